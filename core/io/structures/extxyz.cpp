#include "core/io/structures/extxyz.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/base/constants.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::io {
namespace {

/// Bytes of the complete frames up to a step.
std::uintmax_t kept_bytes(const std::string& path, std::int64_t last_step) {
  std::ifstream in(path, std::ios::binary);
  std::uintmax_t kept = 0;
  std::string line;
  while (std::getline(in, line)) {
    const long long particles = std::strtoll(line.c_str(), nullptr, 10);
    if (!std::getline(in, line)) break;
    const auto key = line.find(" Step=");
    if (key == std::string::npos || std::strtoll(line.c_str() + key + 6, nullptr, 10) > last_step) break;
    for (long long k = 0; k < particles && std::getline(in, line); ++k) {
    }
    if (!in || in.eof()) break;  // the last line lacks its end: the program was killed while it wrote
    kept = static_cast<std::uintmax_t>(in.tellg());
  }
  return kept;
}

/// Mass times velocity in ASE's units, in which energies are eV: sqrt(eV g/mol).
std::vector<double> momenta_of(const Frame& f) {
  static const double scale = std::sqrt(constants::mvv2e);
  std::vector<double> out = f.velocity;
  for (std::size_t k = 0; k < out.size(); ++k) out[k] *= scale * f.species.at(f.type[k / 3]).mass;
  return out;
}

std::string head_of(const Frame& f, std::int64_t particles) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}\nLattice=\"{}\"", particles, fmt::join(f.cell, " "));
  const auto& o = f.origin;
  if (o[0] != 0.0 || o[1] != 0.0 || o[2] != 0.0) fmt::format_to(out, " Origin=\"{} {} {}\"", o[0], o[1], o[2]);
  fmt::format_to(out, " Properties=species:S:1:pos:R:3{}{}{} Step={} Time={} pbc=\"T T T\"",
                 f.velocity.empty() ? "" : ":velo:R:3", f.force.empty() ? "" : ":forces:R:3",
                 f.velocity.empty() ? "" : ":momenta:R:3", f.step, f.time);
  if (f.energy) fmt::format_to(out, " energy={}", *f.energy);
  if (f.virial) {
    std::array<double, 9> stress;
    for (int k = 0; k < 9; ++k) stress[k] = -(*f.virial)[k] / f.volume();
    fmt::format_to(out, " stress=\"{}\"", fmt::join(stress, " "));
  }
  return text + '\n';
}

std::string rows_of(const Frame& f) {
  std::string text;
  auto out = std::back_inserter(text);
  const auto momenta = momenta_of(f);
  for (std::int64_t i = 0; i < f.size(); ++i) {
    fmt::format_to(out, "{}", f.species.at(f.type[i]).symbol);
    for (const auto* rows : {&f.position, &f.velocity, &f.force, &momenta})
      if (!rows->empty())
        fmt::format_to(out, " {:.10g} {:.10g} {:.10g}", (*rows)[3 * i], (*rows)[3 * i + 1], (*rows)[3 * i + 2]);
    text += '\n';
  }
  return text;
}

void write_at(const std::string& path, std::int64_t place, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY);
  if (file < 0) refuse_write(path, std::strerror(errno));
  std::size_t done = 0;
  while (done < text.size()) {
    const auto n = ::pwrite(file, text.data() + done, text.size() - done, place + static_cast<off_t>(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    done += static_cast<std::size_t>(n);
  }
  const int reason = errno;
  const bool closed = ::close(file) == 0;
  if (done < text.size() || !closed) refuse_write(path, std::strerror(done < text.size() ? reason : errno));
}

}  // namespace

std::string extxyz_text(const Frame& f) { return head_of(f, f.size()) + rows_of(f); }

void append_extxyz(const std::string& path, const FrameShare& share, const Comm& comm) {
  const std::string text = (comm.root() ? head_of(share.frame, share.total) : "") + rows_of(share.frame);
  std::error_code gone;  // opening the file will report it
  const auto size = comm.root() ? std::filesystem::file_size(path, gone) : 0;
  const std::int64_t place = comm.sum(gone ? std::int64_t{0} : static_cast<std::int64_t>(size)) +
                             comm.exclusive_sum(static_cast<std::int64_t>(text.size()));
  on_every_rank(comm, [&] {
    if (!text.empty()) write_at(path, place, text);
  });
}

ExtxyzFile::ExtxyzFile(std::string path, std::optional<std::int64_t> resumed_at) : path_(std::move(path)) {
  if (resumed_at && std::filesystem::exists(path_)) std::filesystem::resize_file(path_, kept_bytes(path_, *resumed_at));
  file_ = std::fopen(path_.c_str(), resumed_at ? "a" : "w");
  if (!file_) refuse_write(path_, std::strerror(errno));
}

ExtxyzFile::~ExtxyzFile() { std::fclose(file_); }

void ExtxyzFile::append(const Frame& frame) {
  const std::string text = extxyz_text(frame);
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fflush(file_) != 0)
    refuse_write(path_, std::strerror(errno));
}

}  // namespace cambium::io
