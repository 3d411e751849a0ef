#include "core/run/summary/banner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "core/base/build_info.hpp"
#include "core/base/platform.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/provenance.hpp"
#include "core/parallel/agree.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium {

void print_banner(Context& context) {
  const auto& build = build_info();
  const auto blas = blas_info();
  context.log.info(
      fmt::format("Cambium {} ({}), {}, {}", build.version, build.git_hash, build.compiler, build.instruction_set));
  context.log.info(fmt::format("{}; {} MPI rank{} x {} thread{} ({}), HDF5 {} ({})", processor_name(),
                               context.comm.size(), context.comm.size() == 1 ? "" : "s", ExecSpace().concurrency(),
                               ExecSpace().concurrency() == 1 ? "" : "s", ExecSpace::name(), build.hdf5,
                               build.hdf5_parallel ? "parallel" : "serial"));
  context.log.info(fmt::format("BLAS {}{}, {} thread{}", blas.library,
                               blas.core.empty() ? "" : fmt::format(" with {} kernels", blas.core), blas.threads,
                               blas.threads == 1 ? "" : "s"));
  if (!blas.warning.empty()) context.log.warn(blas.warning);
  if (too_many_blas_threads(blas.threads, blas.on_openmp, HostExec().concurrency(), context.comm.size()))
    context.log.warn(fmt::format("every rank runs {} BLAS threads; export OPENBLAS_NUM_THREADS=1 for one rank per core",
                                 blas.threads));
}

bool too_many_blas_threads(int threads, bool on_openmp, int of_kernels, int ranks) {
  return ranks > 1 && threads > (on_openmp ? std::max(of_kernels, 1) : 1);
}

void write_provenance(const std::string& directory, Context& context) {
  const auto path = (std::filesystem::path(directory) / "provenance.yaml").string();
  const std::string text = io::provenance_yaml(io::provenance_of(context));
  io::on_root(context.comm, [&] { io::write_file_atomically(path, text); });
}

}  // namespace cambium
