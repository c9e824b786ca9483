// Reads index.atf.
#pragma once

#include "document.hpp"
#include "view.hpp"

#include <optional>
#include <string>
#include <vector>

struct IndexEvent {
    const AtfV1IndexEvent *bytes;
    std::uint64_t timestamp_ns;
    std::optional<std::uint64_t> detail_seq;
    // Whether the event is a hole: zeros that no checksum covers.
    bool is_hole;
};

class Index {
  public:
    // Returns nothing if a reader must reject the file.
    static std::optional<Index> open(View file);

    std::string document(Verdict verdict) const;

    Verdict verdict = Verdict::recover;
    unsigned wire = 0;
    bool has_footer() const { return footer != nullptr; }
    std::vector<IndexEvent> events;

  private:
    explicit Index(View file) : file(file) {}
    void read_events(std::uint64_t start, std::uint64_t count);
    std::string header() const;
    std::string event(const IndexEvent &event) const;

    View file;
    const AtfV1IndexFooter *footer = nullptr;
    // The offset after the footer or, without a footer, after the last event.
    std::uint64_t end = 0;
};
