// Tests what the kit's scripts cannot: refused events, and sessions that a program reads back.

#include <atf/session.hpp>
#include <atf/session_writer.hpp>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

namespace {

#define EXPECT(condition)                                                          \
    do {                                                                           \
        if (!(condition)) {                                                        \
            std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);   \
            std::exit(1);                                                          \
        }                                                                          \
    } while (false)

atf::IndexHeader header() {
    atf::IndexHeader own;
    own.arch = atf::Arch::Arm64;
    own.os = atf::Os::Ios;
    own.clock_type = atf::Clock::Qpc;
    return own;
}

atf::IndexEvent call(std::uint64_t time) {
    atf::IndexEvent event;
    event.timestamp_ns = time;
    event.function_id = 5;
    event.event_kind = atf::EventKind::Call;
    event.call_depth = 1;
    return event;
}

void a_session_is_read_back(const std::filesystem::path& folder, int wire) {
    {
        atf::SessionWriter writer(folder, header(), wire);
        std::uint8_t payload[atf::DetailFunctionPayload::size + 2] = {};
        atf::DetailFunctionPayload registers;
        registers.x_regs[7] = 7;
        registers.stack_size = 2;
        EXPECT(registers.write(payload, wire));
        const atf::Detail detail{{payload, sizeof payload}, atf::DetailEventType::FunctionCall};
        atf::ThreadWriter& thread = writer.thread(7);
        EXPECT(!thread.event(call(10)));
        EXPECT(!thread.event(call(20), &detail));
        writer.manifest.ended_by = "a \"quote\", \\ and \n";
        writer.manifest.symbols.emplace_back().function_id = 5;
        EXPECT(!writer.finalize());
    }
    const atf::Session session(folder);
    EXPECT(session.threads().size() == 1);
    const atf::Thread& thread = session.threads()[0];
    EXPECT(thread.is_whole() && thread.index()->size() == 2);
    EXPECT(thread.loose_links().dangling == 0 && thread.loose_links().orphans == 0);
    EXPECT(((*thread.index())[0].call_depth == 1u) == (wire == 1));
    const atf::DetailEvent detail = *thread.detail()->begin();
    EXPECT(detail.function && detail.function->registers.x_regs[7] == 7);
    const atf::Manifest& manifest = session.manifest().value();
    EXPECT(manifest.threads.size() == 1 && manifest.threads[0].has_detail == true);
    EXPECT(manifest.ended_by == "a \"quote\", \\ and \n" && manifest.time_end_ns == 20u);
    EXPECT(manifest.symbols[0].function_id == 5);
}

void wrong_events_are_refused(const std::filesystem::path& folder) {
    atf::ThreadWriter thread(folder, header());
    atf::IndexEvent event = call(1);
    event.event_kind = atf::EventKind{256};
    EXPECT(thread.event(event) == std::errc::value_too_large);
    const atf::Detail detail{{}, atf::DetailEventType{65536}};
    EXPECT(thread.event(call(1), &detail) == std::errc::value_too_large);
    EXPECT(thread.size() == 0);
    EXPECT(!thread.finalize() && !thread.finalize());
    EXPECT(thread.event(call(1)) == std::errc::operation_not_permitted);
    atf::ThreadWriter again(folder, header());
    EXPECT(again.event(call(1)) == std::errc::file_exists);
    EXPECT(again.finalize() == std::errc::file_exists);
}

void what_cannot_be_counted_is_refused(const std::filesystem::path& path) {
    atf::internal::FileWriter file(path, 1, atf::internal::most_events(1));
    file.count = UINT32_MAX - 1;
    EXPECT(!file.check() && file.append(call(1), {}, 1));
    EXPECT(file.check() == std::errc::file_too_large);
}

void a_manifest_that_is_not_utf8_is_refused(const std::filesystem::path& folder) {
    atf::SessionWriter writer(folder, header());
    writer.manifest.ended_by = "\xff";
    EXPECT(writer.finalize() == std::errc::invalid_argument);
    EXPECT(!std::filesystem::exists(folder / "manifest.json"));
}

}  // namespace

int main() {
    char name[] = "/tmp/atf-writer-XXXXXX";
    const std::filesystem::path folder = mkdtemp(name);
    a_session_is_read_back(folder / "1", 1);
    a_session_is_read_back(folder / "2", 2);
    wrong_events_are_refused(folder / "thread_0");
    what_cannot_be_counted_is_refused(folder / "index.atf");
    a_manifest_that_is_not_utf8_is_refused(folder / "3");
    std::filesystem::remove_all(folder);
}
