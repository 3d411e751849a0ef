#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <filesystem>

#include "apps/cambium/doctor/parts.hpp"
#include "core/base/build_info.hpp"
#include "core/base/child.hpp"
#include "core/base/platform.hpp"
#include "core/base/text.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/provenance.hpp"
#include "core/numerics/vendor_gemm.hpp"
#include "core/parallel/kokkos.hpp"
#if defined(OPEN_MPI) && __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

namespace cambium::doctor {

namespace {

/// Describes whether this MPI accepts device addresses; nullptr if unknown.
const char* device_aware() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  if (MPIX_Query_cuda_support() == 1) return "takes addresses of CUDA devices";
#endif
#if defined(MPIX_ROCM_AWARE_SUPPORT)
  if (MPIX_Query_rocm_support() == 1) return "takes addresses of ROCm devices";
#endif
#if defined(MPIX_CUDA_AWARE_SUPPORT) || defined(MPIX_ROCM_AWARE_SUPPORT)
  return "takes addresses of host memory only";
#else
  return "does not report whether it takes addresses of a device";
#endif
}

const char* thread_level() {
  int level = 0;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE     ? "multiple"
         : level == MPI_THREAD_SERIALIZED ? "serialized"
         : level == MPI_THREAD_FUNNELED   ? "funneled"
                                          : "single";
}

/// LibTorch is loaded lazily, by a library next to that of core.
bool has_torch() {
  std::error_code ignored;
  return std::filesystem::exists(std::filesystem::path(core_library_folder()) / "libcambium_torch.so", ignored);
}

/// Release of Python's VTK, such as "9.1.0"; empty if it has none.
std::string vtk_of_python(const Comm& comm) {
  std::string found;
  if (comm.root())
    if (const auto python = python_with({"vtkmodules"}))
      found =
          output_of({*python, "-c", "from vtkmodules.vtkCommonCore import vtkVersion as v; print(v().GetVTKVersion())"})
              .text;
  found = std::string(trim(found));
  comm.broadcast(found);
  return found;
}

/// Older readers show files of the output 'vtkhdf' empty, or crash on them.
void judge_vtk(const std::string& release, Findings& findings) {
  int major = 0, minor = 0;
  if (std::sscanf(release.c_str(), "%d.%d", &major, &minor) != 2)
    return findings.fact("VTKHDF",
                         "version 2.0: for ParaView 5.12, VTK 9.3 or newer; 'xml: true' writes for older ones");
  findings.judge(major > 9 || (major == 9 && minor >= 3), Mark::note, "VTKHDF",
                 fmt::format("version 2.0: for ParaView 5.12, VTK 9.3 or newer; Python has VTK {}", release),
                 "it shows such files empty or ends in them: give the output vtkhdf 'xml: true', whose files every "
                 "release reads");
}

}  // namespace

void report_build(const Registry& registry, Context& context, Findings& findings) {
  const auto& build = build_info();
  const auto provenance = io::provenance_of(context);
  findings.heading("this build");
  findings.fact("Cambium",
                fmt::format("{} (commit {}), {}, {}", build.version, build.git_hash, build.compiler, build.build_type));
  findings.fact("instructions", fmt::format("{}, on {}", build.instruction_set, processor_name()));
  findings.fact("back ends",
                fmt::format("Kokkos {}: {}; kernels run on {}, {} thread{} a rank", build.kokkos, build.kokkos_devices,
                            ExecSpace::name(), ExecSpace().concurrency(), ExecSpace().concurrency() == 1 ? "" : "s"));
  findings.fact("data live in", device_is_host ? fmt::format("the memory of the host ({})", MemSpace::name())
                                               : fmt::format("the memory of the device ({})", MemSpace::name()));
  if (!device_is_host)
    findings.judge(*vendor_products() != 0, Mark::note, "products on the device",
                   *vendor_products() ? vendor_products() : "loops of ours",
                   "many times slower: build where CMake finds cuBLAS (its CUDA toolkit) or rocBLAS");
  const auto blas = blas_info();
  findings.judge(blas.warning.empty(), Mark::note, "BLAS",
                 fmt::format("{}{}, {} thread{} a rank", blas.library,
                             blas.core.empty() ? "" : fmt::format(" with {} kernels", blas.core), blas.threads,
                             blas.threads == 1 ? "" : "s"),
                 blas.warning);
  findings.fact("MPI", fmt::format("{}; {}; threads: {}", provenance.mpi, device_aware(), thread_level()));
  findings.fact("HDF5", fmt::format("{}, {}", io::hdf5_version(),
                                    io::hdf5_is_parallel() ? "parallel: checkpoint.transfer may be collective"
                                                           : "serial: everything goes through rank 0"));
  findings.fact("LibTorch", has_torch() ? "networks written with it can be trained"
                                        : "not in this build (-DCAMBIUM_TORCH=ON); native networks train without it");
  findings.fact("plugins", join(registry.plugins(), ", "));
  judge_vtk(vtk_of_python(context.comm), findings);
}

}  // namespace cambium::doctor
