#include "pipeline/contract/checksum.hpp"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

namespace workbench {

struct Checksum::State {
    XXH3_state_t* state = XXH3_createState();
};

Checksum::Checksum() : state_(std::make_unique<State>()) { XXH3_128bits_reset(state_->state); }
Checksum::~Checksum() { XXH3_freeState(state_->state); }

void Checksum::add(const void* data, std::size_t bytes) { XXH3_128bits_update(state_->state, data, bytes); }

std::string Checksum::text() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_->state);
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string checksum_of(std::string_view text) {
    Checksum checksum;
    checksum.add(text.data(), text.size());
    return checksum.text();
}

}  // namespace workbench
