#include "core/run/trajectory_writers.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "core/base/error.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/structures/pdb.hpp"
#include "core/parallel/agree.hpp"

namespace cambium {

namespace fs = std::filesystem;

std::string H5mdWriter::path() const { return (fs::path(context_.run_directory) / params_.file).string(); }

std::string H5mdWriter::names_file() const { return fs::path(params_.file).replace_extension(".pdb").string(); }

io::H5mdFile::Content H5mdWriter::content() const {
  return {{params_.velocities, params_.forces}, params_.precision == Precision::float32, params_.compress};
}

/// Files without atoms would look like those of an empty run.
static void require_atoms(const State& state, const char* type) {
  if (state.particles.nglobal == 0)
    throw InputError(fmt::format(
        "output '{}' shows atoms, and this physics has none; take 'vtkhdf' or an output of the physics' own", type));
}

void H5mdWriter::observe(const State& state, std::int64_t, double) {
  require_atoms(state, "h5md");
  const io::Frame frame = io::gather_frame(state, context_.comm, content().parts);
  io::on_root(context_.comm, [&] {
    if (file_) return file_->append(frame);
    file_ = std::make_unique<io::H5mdFile>(path(), content(), io::provenance_of(context_), frame);
    io::write_file_atomically((fs::path(context_.run_directory) / names_file()).string(), io::pdb_text(frame));
  });
}

void H5mdWriter::finish(const State&) {
  if (params_.compress && file_) context_.log.info(file_->stored_line(params_.file));
}

bool readable_or_put_aside(const std::string& path, Log& log) {
  if (!fs::exists(path)) return false;
  try {
    io::File::open(path);
    return true;
  } catch (const InputError& error) {
    fs::rename(path, path + ".broken");
    log.warn(fmt::format("{}. It was renamed to '{}.broken' and a new trajectory begins", error.what(),
                         fs::path(path).filename().string()));
    return false;
  }
}

void H5mdWriter::resume(std::int64_t step) {
  io::on_root(context_.comm, [&] {
    if (readable_or_put_aside(path(), context_.log)) file_ = std::make_unique<io::H5mdFile>(path(), content(), step);
  });
}

std::string ExtxyzWriter::path() const { return (fs::path(context_.run_directory) / params_.file).string(); }

void ExtxyzWriter::observe(const State& state, std::int64_t, double) {
  require_atoms(state, "extxyz");
  const auto share = io::share_frame(state, context_.comm, {params_.velocities, params_.forces, true});
  io::on_root(context_.comm, [&] {
    if (!file_) file_ = std::make_unique<io::ExtxyzFile>(path());
    if (share.shares == 1) file_->append(share.frame);
  });
  if (share.shares > 1) io::append_extxyz(path(), share, context_.comm);
}

void ExtxyzWriter::resume(std::int64_t step) {
  io::on_root(context_.comm, [&] { file_ = std::make_unique<io::ExtxyzFile>(path(), step); });
}

}  // namespace cambium
