// Reads detail.atf. Events vary in size; the length of each one gives the offset of the
// next.
#pragma once

#include "document.hpp"
#include "view.hpp"

#include <optional>
#include <string>
#include <vector>

class Detail {
  public:
    // Returns nothing if a reader must reject the file.
    static std::optional<Detail> open(View file);

    std::string document(Verdict verdict) const;

    Verdict verdict = Verdict::recover;
    unsigned wire = 0;
    bool has_footer() const { return footer != nullptr; }
    // For each event, the position of its index event.
    std::vector<std::uint64_t> index_seqs;

  private:
    explicit Detail(View file) : file(file) {}
    std::string header() const;
    std::string event(std::uint64_t place) const;

    View file;
    // The offset of each event.
    std::vector<std::uint64_t> places;
    const AtfV1DetailFooter *footer = nullptr;
    // The offset after the footer or, without a footer, after the last event.
    std::uint64_t end = 0;
};
