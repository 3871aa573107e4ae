// The trial on a GPU. Guards on both sides of every array reveal writes near it; accesses far away are errors of the device.
// Read-only arrays are compared with their original contents.
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/system/child.hpp"
#include "kernels/source/trial_plan.hpp"

namespace workbench {
namespace {

class GpuTrial {
public:
    GpuTrial(const MappedTrial& trial, const CudaDriver& driver) : trial_(trial), plan_(trial.plan), driver_(driver) {}

    [[noreturn]] void run() {
        require(driver_.initialise(0));
        int device = 0;
        void* context = nullptr;
        require(driver_.device(&device, 0));
        require(driver_.retain_primary_context(&context, device));
        require(driver_.set_current_context(context));
        void* module = nullptr;
        void* function = nullptr;
        if (const DriverResult result = driver_.load_module(&module, trial_.bytes + plan_.image); result != 0) {
            conclude(plan_.verdict, TrialKind::not_loadable, driver_.name_of(result));
        }
        if (driver_.function(&function, module, plan_.function.data()) != 0) conclude(plan_.verdict, TrialKind::no_function);
        expect(allow_shared_memory(driver_, plan_.launch, function));
        upload();
        prepare(module);
        const TrialArray& y = plan_.arrays[plan_.array_count - 1];
        std::array<std::vector<unsigned char>, 2> results;
        for (const bool accumulate : {false, true}) {
            if (accumulate && !plan_.accumulates) continue;
            multiply(function, accumulate, 1);
            compare();
            results[accumulate ? 1 : 0] = fetched(y.address, y.bytes);
        }
        repeat_products(plan_, results, [&](bool accumulate, std::vector<unsigned char>& bytes) {
            if (y.bytes > 0) require(driver_.upload(y.address, bytes.data(), y.bytes));
            multiply(function, accumulate, limits_of_repeated);
            bytes = fetched(y.address, y.bytes);
            return std::string();
        });
        conclude(plan_.verdict, TrialKind::fine);
    }

private:
    /// Fills the memory of the file's own, if it has the function.
    void prepare(void* module) {
        void* function = nullptr;
        if (driver_.function(&function, module, plan_.prepare.data()) != 0) return;
        plan_.preparing = true;
        if (!plan_.has_prepared) {
            conclude(plan_.verdict, TrialKind::failed, "prepare has no memory to fill: prepared_bytes is 0");
        }
        expect(allow_shared_memory(driver_, plan_.launch, function));
        start_product(plan_, false, 1);
        expect(launch_prepare(driver_, plan_.launch, function, arguments_.data(), nullptr));
        expect(driver_.synchronise());
        set_timer(0);
        compare();
        plan_.preparing = false;
    }

    void multiply(void* function, bool accumulate, double limits) {
        const TrialArray& y = plan_.arrays[plan_.array_count - 1];
        start_product(plan_, accumulate, limits);
        expect(launch_product(driver_, plan_.launch, function, arguments_.data(), plan_.arrays[plan_.array_count - 2].address,
                              y.address, y.bytes, accumulate, nullptr));
        expect(driver_.synchronise());
        set_timer(0);
    }

    [[nodiscard]] std::vector<unsigned char> fetched(DriverAddress address, std::size_t bytes) const {
        std::vector<unsigned char> there(bytes);
        if (bytes > 0) require(driver_.download(there.data(), address, bytes));
        return there;
    }

    void require(DriverResult result) const {
        if (result != 0) conclude(plan_.verdict, TrialKind::refused, driver_.name_of(result));
    }
    void expect(DriverResult result) const {
        if (result != 0) conclude(plan_.verdict, TrialKind::failed, driver_.name_of(result));
    }

    void upload() {
        arguments_ = plan_.arguments;
        for (int i = 0; i < plan_.array_count; ++i) {
            TrialArray& array = plan_.arrays[i];
            DriverAddress memory = 0;
            require(driver_.allocate(&memory, array.bytes + 2 * trial_guard_bytes));
            require(driver_.fill(memory, trial_guard, array.bytes + 2 * trial_guard_bytes));
            array.address = memory + trial_guard_bytes;
            if (array.bytes > 0) require(driver_.upload(array.address, trial_.bytes + array.offset, array.bytes));
            if (i < plan_.array_count - 2) {
                std::memcpy(arguments_.data() + array.pointer, &array.address, sizeof(array.address));
            }
        }
    }

    void compare() {
        for (int i = 0; i < plan_.array_count; ++i) {
            const TrialArray& array = plan_.arrays[i];
            plan_.array = i;
            for (const DriverAddress guard : {array.address - trial_guard_bytes, array.address + array.bytes}) {
                const std::vector<unsigned char> there = fetched(guard, trial_guard_bytes);
                const auto changed = [](unsigned char byte) { return byte != trial_guard; };
                if (std::any_of(there.begin(), there.end(), changed)) conclude(plan_.verdict, TrialKind::wrote_outside);
            }
            if (i == plan_.array_count - 1) break;  // y
            if (array.is_written) continue;
            const std::vector<unsigned char> there = fetched(array.address, array.bytes);
            const unsigned char* const was = trial_.bytes + array.offset;
            if (!std::equal(there.begin(), there.end(), was)) conclude(plan_.verdict, TrialKind::wrote_inside);
        }
    }

    const MappedTrial& trial_;
    TrialPlan& plan_;
    const CudaDriver& driver_;
    alignas(16) std::array<unsigned char, most_trial_arguments> arguments_{};
};

}  // namespace

void try_on_gpu(const MappedTrial& trial) {
    std::string why;
    const CudaDriver* const driver = open_cuda_driver(why);
    if (driver == nullptr) conclude(trial.plan.verdict, TrialKind::refused, why);
    GpuTrial(trial, *driver).run();
}

}  // namespace workbench
