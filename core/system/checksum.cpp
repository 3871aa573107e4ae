#include "core/system/checksum.hpp"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fstream>
#include <vector>

namespace workbench {
namespace {

XXH3_state_t* state_in(void* state) { return static_cast<XXH3_state_t*>(state); }

}  // namespace

Checksum::Checksum() : state_(XXH3_createState(), [](void* state) { XXH3_freeState(state_in(state)); }) {
    XXH3_128bits_reset(state_in(state_.get()));
}

void Checksum::add(const void* data, std::size_t bytes) { XXH3_128bits_update(state_in(state_.get()), data, bytes); }

std::string Checksum::text() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_in(state_.get()));
    return fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::string checksum_of(std::string_view bytes) {
    Checksum checksum;
    checksum.add(bytes.data(), bytes.size());
    return checksum.text();
}

std::string checksum_of_file(const std::filesystem::path& file) {
    Checksum checksum;
    std::ifstream stream(file, std::ios::binary);
    std::vector<char> bytes(std::size_t{1} << 20);
    while (stream) {
        stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        checksum.add(bytes.data(), static_cast<std::size_t>(stream.gcount()));
    }
    return stream.eof() ? checksum.text() : "";
}

}  // namespace workbench
