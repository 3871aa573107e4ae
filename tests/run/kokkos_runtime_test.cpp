// The variables that set the number of threads, and the limits of this machine.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "core/contract/errors.hpp"
#include "core/system/kokkos_runtime.hpp"
#include "support/message_of.hpp"
#include "support/temporary_folder.hpp"

namespace workbench {
namespace {

namespace fs = std::filesystem;

/// While it lives, a variable of the environment has another value.
class Variable {
public:
    Variable(std::string name, const std::string& value) : name_(std::move(name)) {
        if (const char* const before = std::getenv(name_.c_str()); before != nullptr) before_ = before;
        setenv(name_.c_str(), value.c_str(), 1);
    }
    ~Variable() {
        if (before_) {
            setenv(name_.c_str(), before_->c_str(), 1);
        } else {
            unsetenv(name_.c_str());
        }
    }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

private:
    std::string name_;
    std::optional<std::string> before_;
};

const std::string accepted = "nothing was thrown";

std::string refusal_of(const std::string& name, const std::string& value) {
    const Variable variable(name, value);
    return message_of<UserError>(check_thread_variables);
}

void write(const fs::path& file, const std::string& text) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << text;
}

}  // namespace

TEST_SUITE("threads of Kokkos") {
    TEST_CASE("a variable that is no number in its range is refused with its name and value") {
        CHECK(refusal_of("KOKKOS_NUM_THREADS", "0") ==
              "the environment variable KOKKOS_NUM_THREADS is '0'; expected a whole number, at least 1");
        CHECK(refusal_of("KOKKOS_DEVICE_ID", "a") ==
              "the environment variable KOKKOS_DEVICE_ID is 'a'; expected a whole number, at least 0");
        for (const std::string name : {"KOKKOS_NUM_THREADS", "KOKKOS_NUMA", "KOKKOS_DEVICE_ID", "KOKKOS_NUM_DEVICES",
                                       "KOKKOS_RAND_DEVICES", "KOKKOS_SKIP_DEVICE", "OMP_NUM_THREADS"}) {
            for (const std::string value : {"", " ", "x", "-1", "2x", "1.5", "0x2", "--2", ",", "\x1b[1m"}) {
                CAPTURE(name);
                CAPTURE(value);
                CHECK(refusal_of(name, value).find(name) != std::string::npos);
                CHECK(refusal_of(name, value).find('\x1b') == std::string::npos);
            }
        }
        for (const std::string value : {"0", "2,0", "2,", ",2", "2;3"}) CHECK(refusal_of("OMP_NUM_THREADS", value) != accepted);
        const Variable variable("KOKKOS_NUM_THREADS", "0");
        try {
            check_thread_variables();
        } catch (const UserError& error) {
            CHECK(error.exit_code == ExitCode::bad_recipe);
        }
    }

    TEST_CASE("a number is accepted, however large") {
        for (const std::string value : {"1", " 2 ", "768", "99999999999999999999"}) {
            CHECK(refusal_of("KOKKOS_NUM_THREADS", value) == accepted);
            CHECK(refusal_of("OMP_NUM_THREADS", value) == accepted);
        }
        CHECK(refusal_of("OMP_NUM_THREADS", "4,2, 1") == accepted);
        CHECK(refusal_of("KOKKOS_DEVICE_ID", "0") == accepted);
        CHECK(refusal_of("KOKKOS_SKIP_DEVICE", "0") == accepted);
        CHECK(refusal_of("KOKKOS_DISABLE_WARNINGS", "0") == accepted);
    }

    TEST_CASE("the processors of a CPU quota are rounded up, and the smallest quota counts") {
        const TemporaryFolder folder;
        const fs::path root = folder.path();
        CHECK_FALSE(processors_of_quota(root));
        write(root / "proc/self/cgroup", "0::/\n");
        CHECK_FALSE(processors_of_quota(root));
        write(root / "sys/fs/cgroup/cpu.max", "max 100000\n");
        CHECK_FALSE(processors_of_quota(root));
        write(root / "sys/fs/cgroup/cpu.max", "250000 100000\n");
        CHECK(processors_of_quota(root) == 3);
        write(root / "sys/fs/cgroup/cpu.max", "1000 100000\n");
        CHECK(processors_of_quota(root) == 1);
        write(root / "sys/fs/cgroup/cpu.max", "800000 100000\n");
        write(root / "proc/self/cgroup", "0::/user.slice/job\n");
        CHECK(processors_of_quota(root) == 8);
        write(root / "sys/fs/cgroup/user.slice/cpu.max", "400000 100000\n");
        CHECK(processors_of_quota(root) == 4);
        write(root / "sys/fs/cgroup/user.slice/job/cpu.max", "600000 100000\n");
        CHECK(processors_of_quota(root) == 4);
        write(root / "sys/fs/cgroup/user.slice/job/cpu.max", "100000 100000\n");
        CHECK(processors_of_quota(root) == 1);
    }

    TEST_CASE("processes of one machine share its processors") {
        CHECK(share_of_threads(32, 32, 1) == 32);
        CHECK(share_of_threads(32, 32, 2) == 16);
        CHECK(share_of_threads(16, 32, 2) == 16);  // each is bound to its half
        CHECK(share_of_threads(1, 32, 2) == 1);
        CHECK(share_of_threads(32, 32, 3) == 10);
        CHECK(share_of_threads(2, 2, 8) == 1);
    }

    TEST_CASE("a quota in version 1 of control groups counts like one in version 2") {
        const TemporaryFolder folder;
        const fs::path root = folder.path();
        write(root / "proc/self/cgroup", "11:memory:/a\n4:cpu,cpuacct:/docker/b\n3:cpuset:/c\nnothing\n");
        write(root / "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
        write(root / "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
        CHECK_FALSE(processors_of_quota(root));
        write(root / "sys/fs/cgroup/cpu/docker/b/cpu.cfs_quota_us", "150000\n");
        write(root / "sys/fs/cgroup/cpu/docker/b/cpu.cfs_period_us", "50000\n");
        CHECK(processors_of_quota(root) == 3);
    }
}

}  // namespace workbench
