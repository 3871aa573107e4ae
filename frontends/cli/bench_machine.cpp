#include "frontends/cli/bench_machine.hpp"

#include <unistd.h>

#include <memory>

#include <fmt/format.h>

#include "core/contract/errors.hpp"
#include "core/system/child.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "frontends/cli/terminal.hpp"
#include "kernels/gpu/gpu.hpp"
#include "kernels/host/host_device.hpp"

namespace workbench {

BenchMachine bench_machine() {
    check_thread_variables();
    Child child(ChildOptions{.connected = true});
    if (child.inside()) {
        const KokkosRuntime kokkos(print_error);
        const std::unique_ptr<Device> host = make_host_device();
        const std::unique_ptr<Device> gpu = make_cuda_device();
        std::string text = fmt::format("{} x {}", host->properties().processors, host->properties().name);
        text = (gpu == nullptr ? "-" : "+") + text + (gpu == nullptr ? "" : ", " + gpu->properties().name);
        _exit(send_all(child.connection(), text) ? 0 : 1);
    }
    std::string text;
    while (child.receive(text, -1)) continue;
    if (child.wait().exit_code != 0) throw MachineError("the devices of this machine cannot be queried");
    return {text.substr(1), text.front() == '+'};
}

}  // namespace workbench
