// What every fuzz target is made of: bytes go into one reader, which must give a sound result or refuse in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "pipeline/matrix/csr_matrix.hpp"

/// Called once, first.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments);

/// libFuzzer calls this with bytes of its own making, `fuzz_replay` with those of files.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace workbench::fuzz {

inline std::string_view text_of(const std::uint8_t* data, std::size_t size) {
    return {reinterpret_cast<const char*>(data), size};
}

/// The path of a file in memory that holds these bytes until the next call.
[[nodiscard]] std::filesystem::path file_with(std::string_view bytes);

/// Reads; what it gives must be a CSR matrix, and what it throws a UserError whose text does not command a terminal. Anything
/// else ends the program.
void read_or_refuse(const std::function<CsrMatrix()>& read);

/// The same for what gives no matrix.
void act_or_refuse(const std::function<void()>& act);

}  // namespace workbench::fuzz
