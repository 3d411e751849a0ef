#include "core/run/sound_checkpoint.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <vector>

#include "core/base/error.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/io/share_files.hpp"
#include "core/parallel/agree.hpp"
#include "core/run/summary/stage_files.hpp"

namespace cambium {

namespace fs = std::filesystem;

namespace {

struct Damaged {
  std::string path, why;
};

/// Reason why HDF5 cannot open a file; empty if it can, and if permission is missing, which its reader reports better.
std::string why_not_opened(const std::string& path) {
  if (::access(path.c_str(), R_OK) != 0) return {};
  try {
    io::File::open(path);
    return {};
  } catch (const InputError&) {
    return "it was truncated or overwritten, and HDF5 cannot open it";
  }
}

/// Collective: describes the damage of a checkpoint and its rank files; empty if there is none. Only files without a
/// checksum, such as truncated ones, are opened: a checksum is the stricter test.
std::string damage_of(const std::string& path, const Comm& comm) {
  std::string why;
  const io::Seal seal = io::seal_of(path, comm);
  if (seal == io::Seal::broken) return "what it holds is not what was written";
  if (seal == io::Seal::absent) io::on_root(comm, [&] { why = why_not_opened(path); });
  comm.broadcast(why);
  return why.empty() ? io::share_damage(path, comm) : why;
}

[[noreturn]] void refuse(const std::string& folder, const std::vector<Damaged>& all) {
  std::string text;
  for (const auto& one : all) text += fmt::format("\n  {}: {}", fs::path(one.path).filename().string(), one.why);
  throw InputError(
      fmt::format("no checkpoint in '{}' is intact:{}\nput back a copy of one, or remove them, and the stage begins "
                  "at step 0 when the run is resumed",
                  folder, text));
}

/// On rank 0.
void set_aside(const std::string& path) {
  std::error_code ignored;  // if renaming fails it stays, and is detected again
  fs::rename(path, path + ".damaged", ignored);
}

}  // namespace

std::optional<std::string> newest_sound_checkpoint(const std::string& folder, const Context& context) {
  std::string list;
  io::on_root(context.comm, [&] {
    for (const auto& path : checkpoints_from_newest(folder)) list += path + "\n";
  });
  context.comm.broadcast(list);
  std::vector<Damaged> damaged;
  for (std::size_t from = 0, end; (end = list.find('\n', from)) != std::string::npos; from = end + 1) {
    const std::string path = list.substr(from, end - from);
    const std::string why = damage_of(path, context.comm);
    if (!why.empty()) {
      damaged.push_back({path, why});
      continue;
    }
    for (const auto& one : damaged) {
      io::on_root(context.comm, [&] { set_aside(one.path); });
      context.log.warn(fmt::format("'{}' is damaged: {}; the run continues from {}, and the damaged file is kept as {}",
                                   one.path, one.why, fs::path(path).filename().string(), one.path + ".damaged"));
    }
    return path;
  }
  if (!damaged.empty()) refuse(folder, damaged);
  return {};
}

}  // namespace cambium
