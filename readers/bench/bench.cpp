// Compares the C++ reader with hand-written loads, like bench.c.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <atf/session.hpp>

struct Sum {
    std::uint64_t time = 0, kinds[4] = {};
};

template <typename Work>
double timed(Sum& sum, Work work) {
    sum = {};
    const auto start = std::chrono::steady_clock::now();
    work(sum);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

int main(int, char** argv) {
    const auto bytes = atf::load(argv[1]).value();
    const atf::IndexFile file({bytes.data(), bytes.size()}, atf::Verify::No);
    Sum sum[2];
    for (int round = std::atoi(argv[2]); round > 0; --round) {
        const double typed = timed(sum[0], [&](Sum& sum) {
            for (std::size_t at = 64; at + 64 < bytes.size(); at += 32) {
                std::uint64_t time;
                std::uint32_t kind;
                std::memcpy(&time, &bytes[at], 8);
                std::memcpy(&kind, &bytes[at + 20], 4);
                sum.time += time;
                ++sum.kinds[kind & 3];
            }
        });
        const double generated = timed(sum[1], [&](Sum& sum) {
            for (const auto& event : file) {
                sum.time += event.timestamp_ns;
                ++sum.kinds[static_cast<std::uint32_t>(event.event_kind) & 3];
            }
        });
        std::printf("%.6f %.6f\n", typed, generated);
    }
    std::printf("%ju %ju\n", std::uintmax_t{sum[0].time}, std::uintmax_t{sum[0].kinds[1]});
    return sum[0].time != sum[1].time || sum[0].kinds[1] != sum[1].kinds[1];
}
