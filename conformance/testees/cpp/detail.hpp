// detail.atf: events of any size, each telling where the next one stands.
#pragma once

#include "document.hpp"
#include "view.hpp"

#include <optional>
#include <string>
#include <vector>

class Detail {
  public:
    // Nothing where a reader refuses the file.
    static std::optional<Detail> open(View file);

    std::string document(Verdict verdict) const;

    Verdict verdict = Verdict::recover;
    unsigned wire = 0;
    bool has_footer() const { return footer != nullptr; }
    // Of each event, the index event that it belongs to.
    std::vector<std::uint64_t> index_seqs;

  private:
    explicit Detail(View file) : file(file) {}
    std::string header() const;
    std::string event(std::uint64_t place) const;

    View file;
    // Where each event begins.
    std::vector<std::uint64_t> places;
    const AtfV1DetailFooter *footer = nullptr;
    // Behind the last event, or behind the footer.
    std::uint64_t end = 0;
};
