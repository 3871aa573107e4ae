// Ranks without MPI: a single rank, which may send to itself.
#pragma once

#include <cstring>
#include <stdexcept>

#include "core/contract/ranks.hpp"

namespace workbench {

class OneRank : public Ranks {
public:
    [[nodiscard]] int rank() const override { return 0; }
    [[nodiscard]] int size() const override { return 1; }
    [[nodiscard]] int rank_on_machine() const override { return 0; }
    [[nodiscard]] std::string engine() const override { return ""; }
    [[nodiscard]] std::vector<Bytes> gather(std::span<const std::byte> mine) override {
        return {Bytes(mine.begin(), mine.end())};
    }
    void gather(std::span<const double> mine, std::span<double> all) override {
        if (mine.size() != all.size()) throw std::logic_error("one rank gathers what it gives");
        std::copy(mine.begin(), mine.end(), all.begin());
    }
    [[nodiscard]] std::vector<Bytes> exchange(const std::vector<Bytes>& to) override { return to; }
    void start(std::span<const Outgoing> outgoing, std::span<const Incoming> incoming) override {
        if (outgoing.size() != incoming.size() || outgoing.size() > 1)
            throw std::logic_error("one rank writes to itself alone");
        outgoing_ = outgoing;
        incoming_ = incoming;
    }
    void finish() override {
        for (std::size_t i = 0; i < outgoing_.size(); ++i) {
            std::memcpy(incoming_[i].bytes.data(), outgoing_[i].bytes.data(), incoming_[i].bytes.size());
        }
    }
    void barrier() override {}
    [[noreturn]] void end_all(ExitCode) override { throw std::logic_error("end_all"); }

private:
    std::span<const Outgoing> outgoing_;
    std::span<const Incoming> incoming_;
};

}  // namespace workbench
