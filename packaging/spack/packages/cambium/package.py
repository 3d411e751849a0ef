"""Spack package of Cambium, from a checkout:

    spack repo add packaging/spack
    spack env create cambium && spack -e cambium develop --path "$PWD" cambium@main
    spack -e cambium add cambium@main && spack -e cambium install
"""

try:  # Spack 1.0 and newer keep build systems in a package repository
    from spack_repo.builtin.build_systems.cmake import CMakePackage
except ImportError:
    pass
from spack.package import *


class Cambium(CMakePackage):
    """Machine learning inside scientific simulation: one deck simulates, trains, evaluates and simulates again."""

    license("BSD-3-Clause")

    version("main")

    variant("torch", default=False, description="Networks written with Torch")
    variant("training", default=True, description="The training layer and the plugins that train")
    variant("plugins", default="all", multi=True, description="Plugins that are built",
            values=("all", "md", "deepmd", "podlstm", "submatrix", "superres", "kinetic", "graph", "relate", "pretrain", "cosmo", "sequence", "mace", "kim", "torch_potential",
                    "assimilate"))

    conflicts("+torch", when="~training", msg="Torch is for networks: +training")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("mpi@3:")
    depends_on("kokkos@3.4: cxxstd=20 +shared")
    depends_on("hdf5@1.10: +mpi")
    depends_on("yaml-cpp@0.7:")
    depends_on("fmt@8:")
    depends_on("cli11@2.1:")
    depends_on("nlohmann-json@3.9:")
    depends_on("random123")
    depends_on("zstd@1.4:")
    depends_on("zfp@0.5.5:")
    depends_on("openblas threads=none")
    depends_on("netcdf-c")
    depends_on("udunits")
    depends_on("metis@5.1:")
    depends_on("py-torch", when="+torch")
    depends_on("python@3.9:", type="run")
    depends_on("py-numpy", type="run")
    depends_on("py-h5py", type="run")
    depends_on("py-matplotlib", type="run")
    depends_on("catch2@3:", type="test")

    generator("ninja")

    def cmake_args(self):
        plugins = [] if "plugins=all" in self.spec else list(self.spec.variants["plugins"].value)
        return [
            self.define("CAMBIUM_ARCH", ""),  # Spack's compiler wrappers add the flags of its target, whose names are no -march words
            self.define("CAMBIUM_PLUGINS", plugins),
            self.define_from_variant("CAMBIUM_TRAINING", "training"),
            self.define_from_variant("CAMBIUM_TORCH", "torch"),
            self.define("CAMBIUM_TESTS", self.run_tests),
        ]
