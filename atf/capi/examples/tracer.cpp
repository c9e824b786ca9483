// Writes and reads a session with handles that close themselves.
//     c++ -std=c++17 tracer.cpp $(pkg-config --cflags --libs adatrace-static) && ./a.out FOLDER
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>

#include "atf.h"

namespace atf {

/// A failed call.
struct Error : std::runtime_error {
    explicit Error(AtfStatus status)
        : std::runtime_error(std::string(atf_status_name(status)) + ": " + atf_last_error_message()),
          status(status) {}
    AtfStatus status;
};

inline void check(AtfStatus status) {
    if (status != ATF_OK) throw Error(status);
}

/// A handle that is closed when it goes out of scope.
template <typename T, auto close> struct Closer {
    void operator()(T *handle) const noexcept { close(handle); }
};
template <typename T, auto close> using Handle = std::unique_ptr<T, Closer<T, close>>;

using ThreadWriter = Handle<AtfThreadWriter, atf_writer_close>;
using SessionWriter = Handle<AtfSessionWriter, atf_session_writer_close>;
using SessionReader = Handle<AtfSessionReader, atf_session_close>;

/// Calls a function that returns a handle through its last argument.
template <typename H, typename F, typename... Arguments> H make(F function, Arguments... arguments) {
    typename H::pointer handle = nullptr;
    check(function(arguments..., &handle));
    return H(handle);
}

}  // namespace atf

static std::string write(const char *root) {
    AtfWriteOptions options = ATF_WRITE_OPTIONS_INIT;
    options.durability = ATF_DURABILITY_FINALIZE;
    auto session = atf::make<atf::SessionWriter>(atf_session_writer_create_in, root, &options);
    {
        auto thread = atf::make<atf::ThreadWriter>(atf_session_writer_thread, session.get(), 1u);
        for (uint32_t kind : {ATF_EVENT_KIND_CALL, ATF_EVENT_KIND_RETURN}) {
            uint64_t now = ada_get_timestamp_ns();
            atf::check(atf_writer_write(thread.get(), now, 42, kind, 1, nullptr));
        }
        atf::check(atf_writer_finish(thread.get(), nullptr, 0));
    }
    atf::check(atf_session_writer_finish(session.get(), nullptr, 0));
    return atf_session_writer_path(session.get());
}

int main(int argc, char **argv) try {
    if (argc < 2) throw std::runtime_error("tracer FOLDER");
    std::string path = write(argv[1]);
    auto session = atf::make<atf::SessionReader>(atf_session_open, path.c_str(), 0u);
    AtfSessionTotals totals{};
    atf::check(atf_session_summary(session.get(), &totals, sizeof totals));
    std::cout << totals.event_count << " events\n" << path << "\n";
    return 0;
} catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 1;
}
