#include "core/base/platform.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

namespace cambium {

static std::string cpu_field(const std::string& name) {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);)
    if (line.rfind(name, 0) == 0)
      if (const auto colon = line.find(": "); colon != std::string::npos) return line.substr(colon + 2);
  return {};
}

std::string processor_name() {
  const auto name = cpu_field("model name");
  if (name.empty()) return "unknown processor";
  const auto family = cpu_field("cpu family"), model = cpu_field("model");
  return family.empty() ? name : name + " (family " + family + ", model " + model + ")";
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string preferred_openblas_core() {
  const bool bf16 = (" " + cpu_field("flags") + " ").find(" avx512_bf16 ") != std::string::npos;
  return bf16 && cpu_field("vendor_id") == "AuthenticAMD" ? "COOPERLAKE" : "";
}

template <class F>
static F symbol(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
}

BlasInfo blas_info() {
  BlasInfo info;
  const auto config = symbol<const char* (*)()>("openblas_get_config");
  const auto core = symbol<const char* (*)()>("openblas_get_corename");
  const auto threads = symbol<int (*)()>("openblas_get_num_threads");
  if (!config) {
    info.library = "reference BLAS or an unknown one";
    info.warning =
        "the BLAS in use is not OpenBLAS; with the reference BLAS dense models run ten times slower (Debian: apt-get "
        "install libopenblas0-openmp)";
    return info;
  }
  const std::string text = config();
  info.library = text.substr(0, text.find(' ', text.find(' ') + 1));
  if (core) info.core = core();
  if (threads) info.threads = threads();
  const std::string wanted = preferred_openblas_core();
  std::string upper = info.core;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  if (!wanted.empty() && upper != wanted && upper != "ZEN" && upper != "SAPPHIRERAPIDS")
    info.warning =
        fmt::format("OpenBLAS uses its {} kernels; export OPENBLAS_CORETYPE={} for this processor", info.core, wanted);
  return info;
}

void restart_with_platform_settings(char** argv) {
  if (std::getenv("CAMBIUM_RESTARTED")) return;
  const std::string core = preferred_openblas_core();
  const bool wants_core = !core.empty() && !std::getenv("OPENBLAS_CORETYPE");
  const bool wants_threads = !std::getenv("OMP_NUM_THREADS") && !std::getenv("OPENBLAS_NUM_THREADS");
  if (!wants_core && !wants_threads) return;
  if (wants_core) setenv("OPENBLAS_CORETYPE", core.c_str(), 1);
  if (wants_threads) setenv("OMP_NUM_THREADS", "1", 1);
  setenv("CAMBIUM_RESTARTED", "1", 1);
  execv("/proc/self/exe", argv);  // on failure the program simply goes on; the banner will warn
}

}  // namespace cambium
