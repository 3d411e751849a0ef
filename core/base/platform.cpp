#include "core/base/platform.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <vector>

#include "core/base/error.hpp"

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
  if (name.empty()) return "unknown CPU";
  const auto family = cpu_field("cpu family"), model = cpu_field("model");
  return family.empty() ? name : name + " (family " + family + ", model " + model + ")";
}

std::string host_name() {
  char name[256] = "";
  gethostname(name, sizeof name - 1);
  return name;
}

std::string openblas_core_for(const std::string& vendor, const std::string& flags, const std::string& core) {
  const auto has = [&](const char* flag) {
    return (" " + flags + " ").find(" " + std::string(flag) + " ") != std::string::npos;
  };
  const auto is_one_of = [&](std::initializer_list<const char*> names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return core == name; });
  };
  if (vendor == "AuthenticAMD" && has("avx512_bf16") && !is_one_of({"COOPERLAKE", "ZEN", "SAPPHIRERAPIDS"}))
    return "COOPERLAKE";
  const bool old =
      is_one_of({"GENERIC",      "KATMAI",    "COPPERMINE", "NORTHWOOD", "PRESCOTT",    "BANIAS",      "ATOM",
                 "CORE2",        "PENRYN",    "DUNNINGTON", "NEHALEM",   "SANDYBRIDGE", "ATHLON",      "OPTERON",
                 "OPTERON_SSE3", "BARCELONA", "BOBCAT",     "BULLDOZER", "PILEDRIVER",  "STEAMROLLER", "NANO"});
  if (!old) return "";
  if (has("avx512f") && has("avx512bw") && has("avx512dq") && has("avx512vl")) return "SKYLAKEX";
  return has("avx2") && has("fma") ? "HASWELL" : "";
}

/// The same on this CPU.
static std::string preferred_openblas_core(std::string core) {
  std::transform(core.begin(), core.end(), core.begin(), [](unsigned char c) { return std::toupper(c); });
  return openblas_core_for(cpu_field("vendor_id"), cpu_field("flags"), core);
}

template <class F>
static F symbol(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_DEFAULT, name));
}

/// Values of openblas_get_parallel().
enum class BlasKind { sequential, own_threads, on_openmp };

static BlasKind blas_kind() {
  const auto kind = symbol<int (*)()>("openblas_get_parallel");
  return kind ? static_cast<BlasKind>(kind()) : BlasKind::sequential;
}

/// True if an OpenBLAS of this configuration chooses kernels as it is loaded.
static bool has_kernels_of_many(const std::string& config) { return config.find("DYNAMIC_ARCH") != std::string::npos; }

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
  info.on_openmp = blas_kind() == BlasKind::on_openmp;
  if (const std::string wanted = preferred_openblas_core(info.core); !wanted.empty())
    info.warning =
        has_kernels_of_many(text)
            ? fmt::format("OpenBLAS uses its {} kernels; export OPENBLAS_CORETYPE={} for this CPU", info.core, wanted)
            : fmt::format("OpenBLAS was built for {} alone; one built with DYNAMIC_ARCH=1 has kernels for this CPU",
                          info.core);
  return info;
}

/// Threads of the BLAS and of OpenMP per rank. False if the BLAS started others when it was loaded.
static bool set_threads(int threads) {
  setenv("OMP_NUM_THREADS", std::to_string(threads).c_str(), 1);  // for libraries loaded or programs started later
  if (blas_kind() == BlasKind::own_threads && blas_info().threads > threads) return false;
  if (const auto set = symbol<void (*)(int)>("openblas_set_num_threads")) set(threads);
  if (const auto set = symbol<void (*)(int)>("omp_set_num_threads")) set(threads);
  return true;
}

/// Number of threads to set; 0 if the user has set it. An OpenBLAS on OpenMP ignores its own variable, and uses
/// OpenMP's number at each call.
static int open_threads() {
  if (std::getenv("OMP_NUM_THREADS")) return 0;
  const char* const of_blas = std::getenv("OPENBLAS_NUM_THREADS");
  if (!of_blas) return 1;
  return blas_kind() == BlasKind::on_openmp ? std::max(std::atoi(of_blas), 0) : 0;
}

/// The preferred kernels. False if OpenBLAS selected others when it was loaded.
static bool set_blas_core() {
  const auto config = symbol<const char* (*)()>("openblas_get_config");
  const std::string own = blas_info().core, core = own.empty() ? "" : preferred_openblas_core(own);
  if (core.empty() || !has_kernels_of_many(config())) return true;
  setenv("OPENBLAS_CORETYPE", core.c_str(), 1);
  return false;
}

void keep_freed_memory() {
  for (const char* name : {"MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_", "GLIBC_TUNABLES"})
    if (std::getenv(name)) return;
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 256 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

void apply_platform_settings(char** argv) {
  keep_freed_memory();
  if (std::getenv("CAMBIUM_RESTARTED")) return;
  const int threads = open_threads();
  const bool wants_core = !std::getenv("OPENBLAS_CORETYPE");
  const bool threads_are_set = threads == 0 || set_threads(threads);
  const bool core_is_set = !wants_core || set_blas_core();
  if (threads_are_set && core_is_set) return;
  setenv("CAMBIUM_RESTARTED", "1", 1);
  execv("/proc/self/exe", argv);  // on failure the program simply continues; the banner will warn
}

/// True if the system provides this many pieces of address space of this size.
static bool can_map(std::size_t piece, int pieces) {
  std::vector<void*> taken;
  for (int k = 0; k < pieces; ++k) {
    void* const at = mmap(nullptr, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) break;
    taken.push_back(at);
  }
  for (void* at : taken) munmap(at, piece);
  return static_cast<int>(taken.size()) == pieces;
}

void take_blas_memory() {
  using Product = void(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                       const int*, const double*, const int*, const double*, double*, const int*);
  const auto product = symbol<Product*>("dgemm_");
  const BlasInfo blas = blas_info();
  if (!product || !symbol<const char* (*)()>("openblas_get_config")) return;
  constexpr std::size_t buffer = std::size_t{128} << 20;  // BUFFER_SIZE of OpenBLAS on x86-64 and ARM, a thread
  const int threads = std::max(blas.threads, 1);
  if (!can_map(buffer, threads))
    throw InputError(fmt::format(
        "the BLAS ({}) cannot have its memory: {} MB of addresses for each of {} thread(s), and the limit of this "
        "shell or job allows less; raise it (ulimit -v), or take fewer threads (OPENBLAS_NUM_THREADS)",
        blas.library, buffer >> 20, threads));
  constexpr int n = 192;  // so large that no kernel does without the buffer, and every thread takes part
  const std::vector<double> a(n * n, 0.0);
  std::vector<double> c(n * n, 0.0);
  const double one = 1.0, zero = 0.0;
  product("N", "N", &n, &n, &n, &one, a.data(), &n, a.data(), &n, &zero, c.data(), &n);
}

std::string core_library_folder() {
  Dl_info info;
  if (dladdr(reinterpret_cast<const void*>(&core_library_folder), &info) == 0 || !info.dli_fname) return {};
  std::error_code ignored;
  return std::filesystem::weakly_canonical(info.dli_fname, ignored).parent_path().string();
}

}  // namespace cambium
