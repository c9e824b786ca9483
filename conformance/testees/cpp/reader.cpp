// Reads an index.atf, a detail.atf or a session, and prints the document that the conformance kit
// expects.
//
//     reader PATH
//     reader --serve       answers one request a line: a path as a JSON string
//
// Exit status 0: read; 1: rejected.

#include "detail.hpp"
#include "files.hpp"
#include "index.hpp"
#include "request.hpp"
#include "session.hpp"

#include <iostream>
#include <stdexcept>
#include <string>

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

// Prints the document of a path. Returns the exit status.
int print(const std::filesystem::path &path) {
    const Answer answer = is_directory(path) ? read_session(path) : read_file(path);
    std::cout << answer.document << std::endl;
    return answer.verdict == Verdict::reject ? 1 : 0;
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::cerr << "usage: reader PATH | --serve\n";
        return 2;
    }
    try {
        if (argv[1] != std::string("--serve")) return print(argv[1]);
        for (std::string line; std::getline(std::cin, line);) print(strings(line).at(0));
        return 0;
    } catch (const std::exception &error) {
        std::cerr << "reader: " << error.what() << '\n';
        return 3;
    }
}
