// Reads an index.atf, a detail.atf or a session, and prints the document that the conformance kit
// expects.
//
//     reader PATH
//
// Exit status 0: read; 1: rejected.

#include "detail.hpp"
#include "files.hpp"
#include "index.hpp"
#include "session.hpp"

#include <iostream>
#include <stdexcept>

namespace {

template <typename Format>
Answer read_as(const char *kind, View bytes) {
    const auto file = Format::open(bytes);
    if (!file) return {rejected(kind), Verdict::reject};
    return {file->document(file->verdict), file->verdict};
}

// A file is identified by its magic, regardless of its name.
Answer read_file(const std::filesystem::path &path) {
    std::ifstream stream(path, std::ios::binary);
    const Bytes bytes{std::istreambuf_iterator<char>(stream), {}};
    if (!stream && !stream.eof()) throw std::runtime_error("cannot read the file");
    const View file = view(bytes);
    if (file.starts_with(ATF_V1_DETAIL_HEADER_MAGIC) || path.filename() == "detail.atf") {
        return read_as<Detail>("detail", file);
    }
    return read_as<Index>("index", file);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::cerr << "usage: reader PATH\n";
        return 2;
    }
    try {
        const std::filesystem::path path = argv[1];
        const Answer answer = is_directory(path) ? read_session(path) : read_file(path);
        std::cout << answer.document << '\n';
        return answer.verdict == Verdict::reject ? 1 : 0;
    } catch (const std::exception &error) {
        std::cerr << "reader: " << error.what() << '\n';
        return 3;
    }
}
