#include "kernels/source/run_trial.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <stdexcept>

#include "core/contract/errors.hpp"
#include "core/matrix/trial_process.hpp"
#include "core/system/beside_program.hpp"
#include "core/system/child.hpp"
#include "core/system/host_memory.hpp"
#include "kernels/common/compilation/arrays_header.hpp"
#include "kernels/source/trial.hpp"
#include "kernels/source/trial_plan.hpp"

namespace workbench {
namespace {

/// A file in memory that a child process shares.
class SharedFile {
public:
    explicit SharedFile(std::size_t bytes) : bytes_(bytes), descriptor_(memfd_create("workbench trial", 0)) {
        if (descriptor_ < 0 || ftruncate(descriptor_, static_cast<off_t>(bytes)) != 0) fail();
        address_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
        if (address_ == MAP_FAILED) fail();
    }
    ~SharedFile() {
        (void)munmap(address_, bytes_);
        (void)close(descriptor_);
    }
    SharedFile(const SharedFile&) = delete;
    SharedFile& operator=(const SharedFile&) = delete;

    [[nodiscard]] unsigned char* at(std::size_t offset) const { return static_cast<unsigned char*>(address_) + offset; }
    [[nodiscard]] int descriptor() const { return descriptor_; }

private:
    [[noreturn]] void fail() const {
        const std::string reason = std::strerror(errno);
        if (descriptor_ >= 0) (void)close(descriptor_);
        throw MachineError(fmt::format("memory for a trial, {} bytes: {}", bytes_, reason));
    }

    std::size_t bytes_;
    int descriptor_;
    void* address_ = nullptr;
};

/// Notes how the child ended unless it did.
void note_ending(TrialVerdict& verdict, const Ending& ending) {
    if (verdict.kind != TrialKind::none) return;
    verdict.kind = ending.signal != 0 ? TrialKind::signal : TrialKind::exited;
    verdict.number = ending.signal != 0 ? ending.signal : ending.exit_code;
}

// ---- Formats

/// The verdict of a copy of the program.
struct CopyVerdict {
    struct GuardedArray {
        const void* begin = nullptr;
        std::array<char, 64> name{};
    };

    TrialVerdict verdict;
    long long bytes_behind = -1;    // how far an access was behind an array; -1: elsewhere
    std::array<char, 64> array{};   // its name
    std::array<char, 64> kernel{};  // that is running
    std::size_t name_count = 0;
    std::array<GuardedArray, 64> names{};
};

CopyVerdict* own_verdict = nullptr;  // in the copy

void note_fault(const void* address) {
    const TrialArrayPlace array = trial_array_before(address);
    if (array.begin == nullptr) return;
    own_verdict->bytes_behind = static_cast<const char*>(address) - (static_cast<const char*>(array.begin) + array.bytes);
    for (std::size_t i = 0; i < own_verdict->name_count; ++i) {
        if (own_verdict->names[i].begin == array.begin) own_verdict->array = own_verdict->names[i].name;
    }
}

[[noreturn]] void run_in_copy(CopyVerdict& shared, double limit_seconds, const std::function<void()>& work) {
    own_verdict = &shared;
    enter_trial_process();
    begin_trial(shared.verdict, note_fault);
    set_timer(limit_seconds);
    try {
        work();
    } catch (const std::bad_alloc&) {
        conclude(shared.verdict, TrialKind::lacks_memory);
    } catch (const std::exception& error) {
        conclude(shared.verdict, TrialKind::failed, error.what());
    } catch (...) {
        conclude(shared.verdict, TrialKind::failed, "it throws something that is not a std::exception");
    }
    conclude(shared.verdict, TrialKind::fine);
}

std::string in_words(const CopyVerdict& copy, double limit_seconds) {
    const TrialVerdict& verdict = copy.verdict;
    const std::string array = text_of(copy.array);
    switch (verdict.kind) {
        case TrialKind::fine: return "";
        case TrialKind::failed: return text_of(verdict.text);
        case TrialKind::lacks_memory: return "memory runs out";
        case TrialKind::hung: return fmt::format("not finished in {} s", limit_seconds);
        case TrialKind::exited: return fmt::format("it ends the program, with exit code {}", verdict.number);
        default: break;
    }
    if (copy.bytes_behind < 0) return fmt::format("it ends with a signal: {}", strsignal(verdict.number));
    return fmt::format("it reads or writes {}behind the end of {}{}", copy.bytes_behind == 0 ? "directly " : "",
                       array.empty() ? "an array" : array,
                       copy.bytes_behind == 0 ? "" : fmt::format(", by {} bytes", copy.bytes_behind));
}

// ---- Kernels

template <std::size_t size>
void set_text(std::array<char, size>& to, const std::string& text) {
    if (text.size() >= size) throw std::logic_error("a text is too long for the plan of a trial: " + text);
    std::copy(text.begin(), text.end(), to.begin());
}

std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + trial_page - 1) / trial_page * trial_page; }

/// True if all values are integers, and a row of the largest one in all columns has a sum that is exact.
bool has_exact_sums(const std::vector<LayoutField>& fields, const TrialSetUp& set_up) {
    const double most = set_up.precision == Precision::f32 ? 0x1p24 : 0x1p53;
    const auto is_exact = [&](double value) {
        return value == std::floor(value) && std::abs(value) * std::max(1, set_up.columns) <= most;
    };
    const auto are_exact = [&](const void* data, ElementType type, std::size_t count) {
        const auto* const narrow = static_cast<const float*>(data);
        const auto* const wide = static_cast<const double*>(data);
        if (type == ElementType::f32) return std::all_of(narrow, narrow + count, is_exact);
        return type != ElementType::f64 || std::all_of(wide, wide + count, is_exact);
    };
    return std::all_of(fields.begin(), fields.end(), [&](const LayoutField& field) {
        const std::size_t count = field.constant ? 1 : field.count;
        return are_exact(field.data, field.type, count) &&
               (!field.dictionary || are_exact(field.dictionary->data, field.dictionary->type, field.dictionary->count));
    });
}

/// The plan of a trial, with the offset of each array in the file.
TrialPlan make_plan(const TrialSetUp& set_up, const std::vector<LayoutField>& fields) {
    TrialPlan plan;
    plan.on_gpu = set_up.on_gpu;
    plan.limit_seconds = set_up.limit_seconds;
    plan.launch = set_up.launch;
    plan.accumulates = set_up.accumulates;
    plan.repeats = has_exact_sums(fields, set_up);
    const PackedArrays packed = pack_arrays(fields);
    if (packed.bytes.size() > plan.arguments.size()) throw std::logic_error("a layout with too many fields for a trial");
    std::memcpy(plan.arguments.data(), packed.bytes.data(), packed.bytes.size());
    set_text(plan.shared_object, set_up.shared_object.string());
    set_text(plan.function, kernel_function);
    set_text(plan.prepare, prepare_function);
    plan.prepared = packed.prepared;

    std::uint64_t end = whole_pages(sizeof(TrialPlan));
    plan.image = end;
    end += whole_pages(set_up.image.size());
    const auto add = [&](const std::string& name, std::uint64_t pointer, std::uint64_t element_bytes, std::uint64_t count) {
        TrialArray& array = plan.arrays.at(plan.array_count++);
        set_text(array.name, name);
        array.pointer = pointer;
        array.element_bytes = element_bytes;
        array.bytes = element_bytes * count;
        array.pages = end;
        const std::uint64_t aligned = (array.bytes + trial_alignment - 1) / trial_alignment * trial_alignment;
        array.offset = end + array.page_bytes() - aligned;
        end += array.page_bytes();
    };
    std::size_t pointers = 0;
    for (const LayoutField& field : fields) {
        if (field.has_memory()) add(field.name, packed.pointers[pointers++], bytes_of(field.type), field.count);
    }
    if (set_up.on_gpu) {
        add("prepared", packed.prepared, 1, static_cast<std::uint64_t>(set_up.prepared_bytes.value_or(0)));
        plan.has_prepared = set_up.prepared_bytes.has_value();
        plan.arrays[plan.array_count - 1].is_written = true;
    }
    const auto value_size = static_cast<std::uint64_t>(value_bytes(set_up.precision));
    add("x", 0, value_size, static_cast<std::uint64_t>(set_up.columns));
    add("y", 0, value_size, static_cast<std::uint64_t>(set_up.rows));
    plan.file_bytes = end;
    return plan;
}

void fill_file(const SharedFile& file, const TrialPlan& plan, const TrialSetUp& set_up,
               const std::vector<LayoutField>& fields) {
    std::memcpy(file.at(plan.image), set_up.image.data(), set_up.image.size());
    int number = 0;
    for (const LayoutField& field : fields) {
        if (!field.has_memory()) continue;
        const TrialArray& array = plan.arrays[number++];
        if (array.bytes > 0) std::memcpy(file.at(array.offset), field.data, array.bytes);
    }
    const TrialArray& x = plan.arrays[plan.array_count - 2];
    for (Index column = 0; column < set_up.columns; ++column) {
        if (set_up.precision == Precision::f32) {
            new (file.at(x.offset) + column * sizeof(float)) float(1);
        } else {
            new (file.at(x.offset) + column * sizeof(double)) double(1);
        }
    }
}

std::string name_of(const TrialArray& array) { return text_of(array.name); }

/// "behind the end of y (element 12 of 12, counted from 0)": describes the target of a forbidden access.
std::string place_of(std::uint64_t address, const TrialPlan& plan) {
    for (int i = 0; i < plan.array_count; ++i) {
        const TrialArray& array = plan.arrays[i];
        if (array.address == 0) break;
        const std::uint64_t first = array.address - (array.offset - array.pages);
        const std::uint64_t last = first + array.page_bytes();
        const std::uint64_t end = array.address + array.bytes;
        const std::uint64_t count = array.bytes / array.element_bytes;
        if (address >= array.address && address < end) {
            return fmt::format("writes to {} (element {}), which is only to be read", name_of(array),
                               (address - array.address) / array.element_bytes);
        }
        if (address >= end && address < last + trial_guard_bytes) {
            return fmt::format("reaches behind the end of {} (element {} of {}, counted from 0)", name_of(array),
                               (address - array.address) / array.element_bytes, count);
        }
        if (address < array.address && address + trial_guard_bytes >= first) {
            return fmt::format("reaches before the beginning of {}, by {} bytes", name_of(array), array.address - address);
        }
    }
    return fmt::format("reads or writes at address {:#x}, where nothing is", address);
}

/// True if the file has a function of the kernel's name with other parameters, which its mangled name shows.
bool has_overload(const TrialSetUp& set_up) {
    const std::string begin_of_name = fmt::format("_Z{}{}", std::strlen(kernel_function), kernel_function);
    std::ifstream library(set_up.shared_object, std::ios::binary);
    const std::string compiled = set_up.on_gpu ? set_up.image : std::string(std::istreambuf_iterator<char>(library), {});
    return compiled.find(begin_of_name) != std::string::npos;
}

[[noreturn]] void throw_verdict(const TrialSetUp& set_up, const TrialPlan& plan) {
    const std::string file = set_up.file.string();
    const TrialVerdict& verdict = plan.verdict;
    const std::string text = text_of(verdict.text);
    const std::string when = plan.preparing ? " (preparing)" : plan.accumulating ? " (adding to a y that was there)" : "";
    const auto broken = [&](const std::string& what) { return BrokenKernel(fmt::format("{} {}{}", file, what, when)); };
    const auto array = [&] { return name_of(plan.arrays.at(plan.array)); };
    switch (verdict.kind) {
        case TrialKind::not_loadable: throw RecipeError(fmt::format("{}: cannot be loaded: {}", file, text));
        case TrialKind::no_function:
            throw RecipeError(fmt::format("{}: {}\n{}", file,
                                          has_overload(set_up)
                                              ? fmt::format("'{}' takes other parameters than expected:", kernel_function)
                                              : fmt::format("no function '{}'; expected", kernel_function),
                                          declaration_of_kernel(set_up.on_gpu)));
        case TrialKind::refused: throw MachineError(fmt::format("the trial of {}: {}", file, text));
        case TrialKind::hung:
            throw UnfinishedKernel(
                fmt::format("{}: not finished in {} s (limit: limit_seconds){}", file, plan.limit_seconds, when));
        case TrialKind::differs:
            throw broken(
                fmt::format("gives another result for the same x: {}, so its threads race, or a product depends on earlier "
                            "ones or on memory that was never written",
                            text));
        case TrialKind::unwritten: throw broken("does not write " + text);
        case TrialKind::signal:
            throw broken(verdict.number == SIGSEGV || verdict.number == SIGBUS
                             ? place_of(verdict.fault_address, plan)
                             : fmt::format("ends with a signal: {}", strsignal(verdict.number)));
        case TrialKind::exited: throw broken(fmt::format("ends the program, with exit code {}", verdict.number));
        case TrialKind::wrote_outside:
            throw broken(fmt::format("writes outside {}, before its beginning or behind its end", array()));
        case TrialKind::wrote_inside: throw broken(fmt::format("writes to {}, which is only to be read", array()));
        case TrialKind::failed: throw broken("fails on the device: " + text);
        default: throw std::logic_error("a trial without a verdict");
    }
}

}  // namespace

void begin_trial_step(const std::string& step, const std::string& kernel) {
    copy_text(own_verdict->verdict.step, step);
    copy_text(own_verdict->kernel, kernel);
}

void name_trial_array(const void* begin, const std::string& name) {
    if (own_verdict->name_count == own_verdict->names.size()) return;
    CopyVerdict::GuardedArray& array = own_verdict->names[own_verdict->name_count++];
    array.begin = begin;
    copy_text(array.name, name);
}

TrialEnd try_in_copy(double limit_seconds, const std::function<void()>& work) {
    const SharedFile file(sizeof(CopyVerdict));
    CopyVerdict& shared = *new (file.at(0)) CopyVerdict;
    Child child(ChildOptions{.output = ChildOutput::printed});
    if (child.inside()) run_in_copy(shared, limit_seconds, work);
    constexpr double grace_seconds = 5;  // for the child to end itself at the limit
    note_ending(shared.verdict, child.wait(limit_seconds + grace_seconds));
    const std::string step = text_of(shared.verdict.step);
    const std::string words = in_words(shared, limit_seconds);
    return {shared.verdict.kind, text_of(shared.verdict.text), words.empty() || step.empty() ? words : step + ": " + words,
            text_of(shared.kernel)};
}

bool try_kernel(const TrialSetUp& set_up, const std::vector<LayoutField>& fields) {
    const auto program = find_beside_program(trial_program);
    if (!program) {
        throw MachineError(fmt::format("{} is not in lib/spmv-workbench beside the folder of the program, {}", trial_program,
                                       program_folder().string()));
    }
    const auto plan = std::make_unique<TrialPlan>(make_plan(set_up, fields));
    require_host_memory(plan->file_bytes, fmt::format("the trial of {}", set_up.file.string()));
    const SharedFile file(plan->file_bytes);
    TrialPlan& shared = *new (file.at(0)) TrialPlan(*plan);
    fill_file(file, *plan, set_up, fields);

    // The trial enforces its limit itself; this limit catches a trial that never starts.
    const double start_up = 60 + static_cast<double>(plan->file_bytes) / 1e8;
    // Memory of malloc is not zero, so that what is never written is noticed. Threads that wait leave the cores to others.
    const std::vector<std::string> environment{"GLIBC_TUNABLES=glibc.malloc.perturb=90:glibc.malloc.tcache_count=0",
                                               "MALLOC_PERTURB_=90", "OMP_WAIT_POLICY=passive", "OMP_DYNAMIC=false",
                                               "OMP_PROC_BIND=false"};
    const Ending end = Child({program->string(), std::to_string(file.descriptor())},
                             {.output = ChildOutput::printed, .environment = environment})
                           .wait((2 + 2 * limits_of_repeated) * set_up.limit_seconds + start_up);
    if (!end.not_started.empty()) throw MachineError(fmt::format("{}: {}", program->string(), end.not_started));
    if (shared.verdict.kind == TrialKind::fine) return end.printed;
    if (shared.verdict.kind == TrialKind::none && end.too_long) {
        throw UnfinishedKernel(
            fmt::format("{}: could not be ended at its limit (limit_seconds) and was killed", set_up.file.string()));
    }
    note_ending(shared.verdict, end);
    throw_verdict(set_up, shared);
}

}  // namespace workbench
