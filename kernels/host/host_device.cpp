#include "kernels/host/host_device.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <stdexcept>

#include "core/contract/errors.hpp"
#include "core/contract/precision.hpp"
#include "core/contract/solvers.hpp"
#include "core/matrix/host_array.hpp"
#include "core/matrix/host_threads.hpp"
#include "core/system/host_memory.hpp"
#include "kernels/device/host_loops.hpp"
#include "kernels/krylov/host_krylov.hpp"

namespace workbench {
namespace {

constexpr const char* cache_variable = "WORKBENCH_LAST_LEVEL_CACHE";
constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t page = 4096;  // a multiple of every vector register and cache line
constexpr std::size_t huge_page = std::size_t{1} << 21;

using Word = std::uint64_t;
using Words = Kokkos::RangePolicy<HostSpace, Kokkos::IndexType<std::size_t>>;

double seconds_of(const std::function<void()>& work) {
    Kokkos::fence();
    const auto start = std::chrono::steady_clock::now();
    work();
    Kokkos::fence();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

std::string first_line(const std::filesystem::path& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// Parses a size as Linux writes it: "32768K".
std::size_t parse_size(const std::string& text) {
    char* unit = nullptr;
    const std::size_t number = std::strtoull(text.c_str(), &unit, 10);
    return *unit == 'K' ? number << 10 : *unit == 'M' ? number << 20 : number;
}

/// The size in $WORKBENCH_LAST_LEVEL_CACHE, or else what Linux describes.
std::size_t cache_of_machine() {
    const char* const given = std::getenv(cache_variable);
    if (given == nullptr) return last_level_cache("/sys/devices/system/cpu");
    const std::string text = given;
    const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
    const bool has_unit = digits + 1 == text.size() && (text.back() == 'K' || text.back() == 'M');
    if (digits == 0 || digits > 9 || (digits < text.size() && !has_unit)) {
        throw RecipeError(fmt::format("{}: found '{}', expected a number of bytes, such as 32M or 512K", cache_variable, text));
    }
    return parse_size(text);
}

/// "model name	: Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz"
std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);) {
        const std::size_t colon = line.find(": ");
        if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
    }
    return "host";
}

void fill_words(Word* words, std::size_t count, Word value) {
    Kokkos::parallel_for(Words(0, count), [=](std::size_t i) { words[i] = value; });
}

void copy_words(const Word* from, Word* to, std::size_t count) {
    Kokkos::parallel_for(Words(0, count), [=](std::size_t i) { to[i] = from[i]; });
}

/// Sums block by block, so that the inner loop keeps its sum in registers.
Word sum_words(const Word* words, std::size_t count) {
    constexpr std::size_t block = 4096;
    Word sum = 0;
    Kokkos::parallel_reduce(
        Words(0, (count + block - 1) / block),
        [=](std::size_t i, Word& total) {
            Word partial = 0;
            for (std::size_t k = i * block; k < std::min(count, (i + 1) * block); ++k) partial += words[k];
            total += partial;
        },
        sum);
    return sum;
}

/// Reads the words again and again. count: a multiple of 8.
void read_words(const Word* words, std::size_t count, std::size_t passes) {
    using Pair [[gnu::vector_size(16)]] = Word;  // of a register on all processors: sums in memory would take most of the time
    constexpr std::size_t pairs = 4;
    Pair sums[pairs]{};
    for (std::size_t pass = 0; pass < passes; ++pass) {
        asm volatile("" : : "r"(words) : "memory");  // the words may have changed, so each pass reads them
        for (std::size_t k = 0; k < count; k += 2 * pairs) {
#pragma GCC unroll 4
            for (std::size_t i = 0; i < pairs; ++i) {
                Pair pair;
                std::memcpy(&pair, words + k + 2 * i, sizeof(pair));
                sums[i] += pair;
            }
        }
    }
    const Pair sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    const Word total = sum[0] + sum[1];
    asm volatile("" : : "r"(total) : "memory");
}

/// The compiler cannot remove a sum that is used, nor the reads behind it.
void require_sum(Word sum, Word expected) {
    if (sum != expected) throw MachineError("host memory does not keep what is written to it");
}

void require_fits(std::size_t found, std::size_t capacity) {
    if (found > capacity)
        throw std::logic_error(fmt::format("host memory of {} bytes: a copy of {} does not fit", capacity, found));
}

class HostSolvers final : public Solvers {
public:
    explicit HostSolvers(Device& host) : host_(host) {}

    [[nodiscard]] std::unique_ptr<KrylovByProducts<float>> krylov(const KrylovPlan& plan, std::span<const float> b,
                                                                  std::span<const float> inverse_diagonal) override {
        return make_host_krylov(plan, b, inverse_diagonal, host_);
    }
    [[nodiscard]] std::unique_ptr<KrylovByProducts<double>> krylov(const KrylovPlan& plan, std::span<const double> b,
                                                                   std::span<const double> inverse_diagonal) override {
        return make_host_krylov(plan, b, inverse_diagonal, host_);
    }

    [[nodiscard]] std::unique_ptr<SeveralKrylov<float>> several(const SeveralPlan<float>& plan) override {
        return make_host_several_krylov(plan, host_);
    }
    [[nodiscard]] std::unique_ptr<SeveralKrylov<double>> several(const SeveralPlan<double>& plan) override {
        return make_host_several_krylov(plan, host_);
    }

private:
    Device& host_;
};

class HostDevice final : public Device {
public:
    HostDevice() {
        properties_.kind = DeviceKind::host;
        properties_.name = processor_name();
        properties_.processors = host_threads();
        properties_.last_level_cache = cache_of_machine();
        properties_.memory = host_memory();
    }

    [[nodiscard]] const DeviceProperties& properties() const override { return properties_; }

    [[nodiscard]] DeviceMemory allocate(std::size_t bytes, std::string_view purpose) override {
        // In huge pages where the system has them, like the arrays of layouts (host_array.hpp): x is read at random.
        const std::size_t alignment = bytes < huge_page ? page : huge_page;
        const std::size_t size = std::max<std::size_t>(1, (bytes + alignment - 1) / alignment) * alignment;
        const std::size_t free = free_host_memory();
        void* const address = bytes > free ? nullptr : std::aligned_alloc(alignment, size);
        if (address == nullptr) {
            throw MachineError(fmt::format("host memory for {}: {} bytes wanted, {} free", purpose, bytes, free));
        }
        if (alignment == huge_page) (void)madvise(address, size, MADV_HUGEPAGE);
        return {address, bytes, std::free};
    }

    void upload(std::span<const std::byte> from, DeviceMemory& to) override {
        require_fits(from.size(), to.bytes());
        auto* const target = static_cast<std::byte*>(to.address());
        for_pieces(from.size(), [&](std::size_t begin, std::size_t end) {  // by all threads, near which the pages then are
            if (begin < end) std::memcpy(target + begin, from.data() + begin, end - begin);
        });
    }

    void download(const DeviceMemory& from, std::span<std::byte> to) override {
        require_fits(to.size(), from.bytes());
        if (!to.empty()) std::memcpy(to.data(), from.address(), to.size());
    }

    void scatter(const float* values, const Index* target, Index count, float* y) override {
        scatter_values(values, target, count, y);
    }

    void scatter(const double* values, const Index* target, Index count, double* y) override {
        scatter_values(values, target, count, y);
    }

    void scatter_add(const float* values, const Index* target, Index count, float* y) override {
        scatter_add_values(values, target, count, y);
    }

    void scatter_add(const double* values, const Index* target, Index count, double* y) override {
        scatter_add_values(values, target, count, y);
    }

    void fill(void* memory, std::byte byte, std::size_t bytes) override {
        auto* const to = static_cast<std::byte*>(memory);
        constexpr std::size_t piece = 1 << 15;
        const int value = std::to_integer<int>(byte);
        Kokkos::parallel_for(Words(0, (bytes + piece - 1) / piece),
                             [=](std::size_t i) { std::memset(to + i * piece, value, std::min(piece, bytes - i * piece)); });
    }

    void flush_cache() override {
        const std::span<Word> words = large_buffer();
        fill_words(words.data(), words.size(), ++flushes_);
        require_sum(sum_words(words.data(), words.size()), words.size() * flushes_);
    }

    [[nodiscard]] double time(const std::function<void()>& work) override { return seconds_of(work); }

    [[nodiscard]] Solvers* solvers() override { return &solvers_; }

    [[nodiscard]] Bandwidth bandwidth() override {
        static const Bandwidth of_machine = measure_bandwidth(large_buffer(), seconds_of);
        return of_machine;
    }

    [[nodiscard]] double read_bandwidth(std::size_t bytes) override {
        const std::span<const Word> words = large_buffer();
        return measure_read_bandwidth(words.first(std::min(bytes / sizeof(Word), words.size())));
    }

private:
    /// At least twice the last-level cache. 64 MiB or more unless the variable gives its size, as Linux may report less than
    /// the machine has.
    std::span<Word> large_buffer() {
        const std::size_t at_least = std::getenv(cache_variable) == nullptr ? 64 * mebibyte : mebibyte;
        if (!buffer_) buffer_ = allocate(std::max(2 * properties_.last_level_cache, at_least), "flushing the cache");
        return {buffer_->as<Word>(), buffer_->bytes() / sizeof(Word)};
    }

    /// body(i) for i in [0, count): by this thread if a parallel region would take longer.
    template <typename Body>
    static void for_each_element(Index count, const Body& body) {
        constexpr Index few = 4096;
        if (count > few) return Kokkos::parallel_for(Kokkos::RangePolicy<HostSpace, Kokkos::IndexType<Index>>(0, count), body);
        for (Index i = 0; i < count; ++i) body(i);
    }

    template <ValueType Value>
    void scatter_values(const Value* values, const Index* target, Index count, Value* y) {
        for_each_element(count, [=](Index i) { y[target == nullptr ? i : target[i]] = values[i]; });
    }

    template <ValueType Value>
    void scatter_add_values(const Value* values, const Index* target, Index count, Value* y) {
        for_each_element(count, [=](Index i) { y[target[i]] += values[i]; });
    }

    DeviceProperties properties_;
    HostSolvers solvers_{*this};
    std::optional<DeviceMemory> buffer_;
    Word flushes_ = 0;
};

}  // namespace

std::size_t last_level_cache(const std::filesystem::path& cores) {
    std::error_code ignored;
    int last_level = 0;
    std::size_t bytes = 0;
    std::set<std::string> seen;  // caches, each of which several cores list
    for (const auto& core : std::filesystem::directory_iterator(cores, ignored)) {
        for (const auto& cache : std::filesystem::directory_iterator(core.path() / "cache", ignored)) {
            const int level = std::atoi(first_line(cache.path() / "level").c_str());
            if (level < last_level || first_line(cache.path() / "type") == "Instruction") continue;
            if (level > last_level) {
                last_level = level;
                bytes = 0;
                seen.clear();
            }
            if (seen.insert(first_line(cache.path() / "shared_cpu_list")).second) {
                bytes += parse_size(first_line(cache.path() / "size"));
            }
        }
    }
    return bytes;
}

Bandwidth measure_bandwidth(std::span<Word> buffer, const std::function<double(const std::function<void()>&)>& time) {
    Word* const words = buffer.data();
    const std::size_t half = buffer.size() / 2;
    fill_words(words, half, 1);
    fill_words(words + half, half, 0);
    double copy_seconds = std::numeric_limits<double>::infinity();
    double read_seconds = copy_seconds;
    Word sum = 0;
    for (int round = 0; round < 3; ++round) {
        copy_seconds = std::min(copy_seconds, time([&] { copy_words(words, words + half, half); }));
        read_seconds = std::min(read_seconds, time([&] { sum = sum_words(words, buffer.size()); }));
        require_sum(sum, buffer.size());
    }
    const auto bytes = static_cast<double>(buffer.size_bytes());
    return {bytes / copy_seconds, bytes / read_seconds};
}

double measure_read_bandwidth(std::span<const Word> words) {
    constexpr std::size_t lanes = 8;
    constexpr std::size_t timed = mebibyte / sizeof(Word);  // words; so few that many readings are not interrupted
    constexpr std::size_t readings = 256;
    const auto threads = static_cast<std::size_t>(host_threads());
    const std::size_t of_thread = words.size() / threads / lanes * lanes;
    if (of_thread == 0) return std::numeric_limits<double>::infinity();  // registers hold it
    const std::size_t chunk = std::min(of_thread, timed);
    const std::size_t passes = timed / chunk;
    double sum = 0;
    Kokkos::parallel_reduce(
        Words(0, threads),
        [=](std::size_t thread, double& total) {
            std::chrono::duration<double> least{std::numeric_limits<double>::infinity()};
            for (std::size_t i = 0; i < readings; ++i) {
                const Word* const begin = words.data() + thread * of_thread + i % (of_thread / chunk) * chunk;
                const auto start = std::chrono::steady_clock::now();
                read_words(begin, chunk, passes);
                least = std::min<std::chrono::duration<double>>(least, std::chrono::steady_clock::now() - start);
            }
            total += static_cast<double>(chunk * passes * sizeof(Word)) / least.count();
        },
        sum);
    return sum;
}

std::unique_ptr<Device> make_host_device() { return std::make_unique<HostDevice>(); }

}  // namespace workbench
