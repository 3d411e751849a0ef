#include "apps/cambium/profile/peaks.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "apps/cambium/profile/kernels.hpp"
#include "core/base/build_info.hpp"
#include "core/base/error.hpp"
#include "core/base/platform.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/kokkos.hpp"

namespace cambium {

namespace fs = std::filesystem;

namespace {

constexpr int message_bytes = 1 << 20, file_bytes = 1 << 24;

/// The best of some turns of something that answers an amount per second.
template <class Rate>
double best(int turns, Rate rate) {
  double most = 0.0;
  for (int turn = 0; turn < turns; ++turn) most = std::max(most, rate());
  return most;
}

double network_rate(const Comm& comm) {
  const int partner = comm.rank() ^ 1;
  std::vector<char> out(message_bytes), in(message_bytes);
  const auto turn = [&] {
    comm.barrier();
    if (partner >= comm.size()) return 0.0;
    const double start = wall_seconds();
    constexpr int messages = 8;
    for (int k = 0; k < messages; ++k)
      MPI_Sendrecv(out.data(), message_bytes, MPI_BYTE, partner, 7, in.data(), message_bytes, MPI_BYTE, partner, 7,
                   comm.handle(), MPI_STATUS_IGNORE);
    return messages * static_cast<double>(message_bytes) / (wall_seconds() - start);
  };
  return best(4, turn);
}

/// 0 if the folder is not writable.
double file_rate(const std::string& folder) {
  const std::string text(file_bytes, 'c'), path = (fs::path(folder) / ".peak").string();
  double rate = 0.0;
  try {
    const double start = wall_seconds();
    io::write_file_atomically(path, text);
    rate = file_bytes / (wall_seconds() - start);
  } catch (const InputError&) {
  }
  std::error_code ignored;
  fs::remove(path, ignored);
  return rate;
}

std::string cache_file() {
  const char *cache = std::getenv("XDG_CACHE_HOME"), *home = std::getenv("HOME");
  if (cache && *cache) return (fs::path(cache) / "cambium" / "peaks.json").string();
  if (home && *home) return (fs::path(home) / ".cache" / "cambium" / "peaks.json").string();
  return {};
}

std::string machine_key(const Comm& comm) {
  const auto blas = blas_info();
  return fmt::format("{}; {}; {} {}, {} threads; {} x {}; version {}", host_name(), processor_name(), blas.library,
                     blas.core, blas.threads, comm.size(), ExecSpace().concurrency(), build_info().version);
}

nlohmann::json stored_peaks() {
  std::ifstream in(cache_file());
  auto found = nlohmann::json::parse(in, nullptr, false);
  return found.is_object() ? found : nlohmann::json::object();
}

void store(const std::string& key, const std::vector<double>& values) {
  const std::string path = cache_file();
  if (path.empty()) return;
  std::error_code error;
  fs::create_directories(fs::path(path).parent_path(), error);
  auto all = stored_peaks();
  all[key] = values;
  try {
    io::write_file_atomically(path, all.dump(1));
  } catch (const InputError&) {  // measured again next time
  }
}

std::vector<double> measured(const Comm& comm) {
  comm.barrier();
  std::vector<double> out{gemm_rate<double>(768, 6), gemm_rate<float>(768, 6), best(4, vector_rate<double>),
                          best(4, vector_rate<float>)};
  comm.barrier();
  out.push_back(triad_rate(4));
  for (double& value : out) value = comm.sum(value) / comm.size();
  return out;
}

}  // namespace

template <class T>
double gemm_rate(int n, int turns) {
  return best(turns, [&] { return one_gemm_rate<T>(n); });
}
template double gemm_rate<double>(int, int);
template double gemm_rate<float>(int, int);

Peaks::Roof Peaks::roof(const Recorder::Row& row) const {
  const bool narrow = row.word == 4, product = row.kind == WorkKind::matrix, sent = row.kind == WorkKind::communication,
             kept = row.kind == WorkKind::files;
  const double flops = product ? (narrow ? matrix_float : matrix_double) : (narrow ? vector_float : vector_double);
  const double bytes = sent ? network : kept ? files : memory;
  const double work = flops > 0.0 ? row.flops / flops : 0.0, moved = bytes > 0.0 ? row.bytes / bytes : 0.0;
  if (work <= 0.0 && moved <= 0.0) return {};
  if (work >= moved) return {product ? "matrix" : "vector", work};
  return {sent ? "messages" : kept ? "files" : "memory", moved};
}

Peaks machine_peaks(const Context& context) {
  const Comm& comm = context.comm;
  const std::string key = machine_key(comm);
  std::vector<double> values(6, 0.0);
  if (comm.root()) {
    const auto all = stored_peaks();
    if (const auto found = all.find(key); found != all.end() && found->is_array() && found->size() == 5) {
      for (std::size_t k = 0; k < 5; ++k) values[k] = (*found)[k].is_number() ? (*found)[k].get<double>() : 0.0;
      values[5] = values[0] > 0.0;
    }
  }
  comm.broadcast(values);
  Peaks peaks;
  peaks.stored = values[5] > 0.0;
  if (!peaks.stored) {
    values = measured(comm);
    if (comm.root()) store(key, values);
  }
  peaks.matrix_double = values[0];
  peaks.matrix_float = values[1];
  peaks.vector_double = values[2];
  peaks.vector_float = values[3];
  peaks.memory = values[4];
  peaks.network = comm.sum(network_rate(comm)) / comm.size();
  std::vector<double> files{comm.root() ? file_rate(context.run_directory) : 0.0};
  comm.broadcast(files);
  peaks.files = files[0];
  return peaks;
}

nlohmann::json to_json(const Peaks& peaks) {
  return {{"matrix_double_flops", peaks.matrix_double},
          {"matrix_float_flops", peaks.matrix_float},
          {"vector_double_flops", peaks.vector_double},
          {"vector_float_flops", peaks.vector_float},
          {"memory_bytes", peaks.memory},
          {"network_bytes", peaks.network},
          {"files_bytes", peaks.files},
          {"found_stored", peaks.stored}};
}

}  // namespace cambium
