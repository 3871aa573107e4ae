#include "core/system/checksum.hpp"

#include <fmt/format.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <fstream>
#include <memory>
#include <vector>

namespace workbench {
namespace {

std::string hexadecimal(XXH128_hash_t hash) { return fmt::format("{:016x}{:016x}", hash.high64, hash.low64); }

}  // namespace

std::string checksum_of(std::string_view bytes) { return hexadecimal(XXH3_128bits(bytes.data(), bytes.size())); }

std::string checksum_of_file(const std::filesystem::path& file) {
    struct Free {
        void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
    };
    const std::unique_ptr<XXH3_state_t, Free> state(XXH3_createState());
    XXH3_128bits_reset(state.get());
    std::ifstream stream(file, std::ios::binary);
    std::vector<char> bytes(std::size_t{1} << 20);
    while (stream) {
        stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
        XXH3_128bits_update(state.get(), bytes.data(), static_cast<std::size_t>(stream.gcount()));
    }
    return stream.eof() ? hexadecimal(XXH3_128bits_digest(state.get())) : "";
}

}  // namespace workbench
