# A package file for Spack: put it into packages/spmv-workbench of a repository of packages (docs/packages.md).
import os

from spack.package import *


class SpmvWorkbench(CMakePackage):
    """Describe a sparse-matrix storage format and its preprocessing in one file; the workbench runs it on a matrix, draws every
    stage, verifies the CPU and GPU kernels, and times them."""

    homepage = "https://github.com/spmv-workbench/spmv-workbench"
    license("Apache-2.0")

    # The source is a checkout: spack dev-build spmv-workbench@main, or spack develop --path CHECKOUT spmv-workbench@main.
    version("main", branch="main", git="file:///path/to/spmv-workbench")

    variant("cuda", default=False, description="CUDA kernels")
    variant("cuda_arch", default="none", multi=True, values=("none", "70", "75", "80", "86", "89", "90", "100", "120"),
            description="GPUs to build CUDA kernels for; none: those that CMakeLists.txt lists")
    variant("mpi", default=False, description="runs over several ranks (--distributed)")
    variant("python", default=False, description="the Python module spmv_workbench")
    variant("hdf5", default=True, description="matrices in .mat and .h5 files")

    # Spack has no packages of stb_truetype.h and DejaVuSans.ttf: CMake takes those of the system (libstb-dev, fonts-dejavu-core), or
    # those that STB_INCLUDE_DIR and WORKBENCH_FONT_FILE name in the environment.
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("kokkos@3.4: +openmp +serial +pic cxxstd=20")
    depends_on("metis@5.1:")
    depends_on("suite-sparse")
    depends_on("boost@1.74: +graph")
    depends_on("eigen@3.4:")
    depends_on("tomlplusplus@3:")
    depends_on("cli11")
    depends_on("fmt")
    depends_on("nlohmann-json")
    depends_on("libarchive compression=zlib,lzma,zstd")
    depends_on("xz")
    depends_on("zlib-api")
    depends_on("libpng")
    depends_on("libharu")
    depends_on("giflib")
    depends_on("curl")
    depends_on("xxhash")
    depends_on("cpp-httplib", when="@main")
    depends_on("cuda@12:", when="+cuda")
    depends_on("mpi", when="+mpi")
    with when("+hdf5"):
        depends_on("hdf5")
        depends_on("matio +hdf5")
    with when("+python"):
        extends("python@3.9:")
        depends_on("py-pybind11@2.10:", type="build")
        depends_on("py-numpy", type=("build", "run"))
        depends_on("py-scipy", type=("build", "run"))

    generator("ninja")

    def cmake_args(self):
        args = [
            self.define(name, os.environ[name]) for name in ("STB_INCLUDE_DIR", "WORKBENCH_FONT_FILE") if name in os.environ
        ]
        args += [
            self.define("WORKBENCH_TESTS", False),
            self.define("CMAKE_UNITY_BUILD", True),
            self.define("CMAKE_UNITY_BUILD_BATCH_SIZE", 16),
            self.define("WORKBENCH_BUNDLE_LIBRARIES", False),
            self.define_from_variant("WORKBENCH_CUDA", "cuda"),
            self.define_from_variant("WORKBENCH_PYTHON", "python"),
            self.define("CMAKE_DISABLE_FIND_PACKAGE_MPI", self.spec.satisfies("~mpi")),
        ]
        if self.spec.satisfies("+python"):
            args.append(self.define("Python_EXECUTABLE", self.spec["python"].command.path))
        if self.spec.satisfies("+cuda") and not self.spec.satisfies("cuda_arch=none"):
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", ";".join(f"{each}-real" for each in self.spec.variants["cuda_arch"].value)))
        return args
