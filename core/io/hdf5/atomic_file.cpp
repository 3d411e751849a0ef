#include "core/io/hdf5/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/base/error.hpp"
#include "core/base/recorder.hpp"

namespace cambium::io {
namespace {

/// Syncs a file or folder to disk. File systems without fsync for folders return EINVAL, which is ignored.
void synchronise(const std::string& path, const std::string& named) {
  const int descriptor = ::open(path.c_str(), O_RDONLY);
  if (descriptor < 0) refuse_write(named, std::strerror(errno));
  const int failed = fsync(descriptor) != 0 && errno != EINVAL ? errno : 0;
  ::close(descriptor);
  if (failed) refuse_write(named, std::strerror(failed));
}

/// True for a device or a pipe, such as /dev/null, which is written to directly.
bool takes_bytes_alone(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  return std::filesystem::is_character_file(status) || std::filesystem::is_fifo(status);
}

}  // namespace

void refuse_write(const std::string& path, const std::string& reason) {
  if (reason == std::strerror(EFBIG))
    throw InputError(
        fmt::format("cannot write '{}': {}; raise the limit that this shell or job sets for the size of a file (ulimit "
                    "-f), then resume",
                    path, reason));
  throw InputError(
      fmt::format("cannot write '{}': {}; free some space or choose another run directory (run.directory), then resume",
                  path, reason));
}

AtomicFile::AtomicFile(std::string path)
    : path_(std::move(path)), part_(takes_bytes_alone(path_) ? path_ : path_ + ".part") {}

AtomicFile::~AtomicFile() {
  if (!committed_ && part_ != path_) std::remove(part_.c_str());
}

void AtomicFile::commit() {
  if (part_ == path_) return;
  const Region region("bring a file to the disk", WorkKind::files);
  synchronise(part_, path_);
  if (std::rename(part_.c_str(), path_.c_str()) != 0) refuse_write(path_, std::strerror(errno));
  committed_ = true;
  const auto folder = std::filesystem::path(path_).parent_path();
  synchronise(folder.empty() ? "." : folder.string(), path_);
}

void write_file_atomically(const std::string& path, std::string_view text) {
  const Region region("write a text", WorkKind::files, {.bytes = static_cast<double>(text.size())});
  AtomicFile target(path);
  const int descriptor = ::open(target.part().c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (descriptor < 0) refuse_write(path, std::strerror(errno));
  int failed = 0;
  while (!text.empty() && !failed) {
    const ssize_t put = ::write(descriptor, text.data(), text.size());
    if (put >= 0)
      text.remove_prefix(static_cast<std::size_t>(put));
    else if (errno != EINTR)
      failed = errno;
  }
  if (::close(descriptor) != 0 && !failed) failed = errno;
  if (failed) refuse_write(path, std::strerror(failed));
  target.commit();
}

void write_h5_atomically(const std::string& path, const std::function<void(File&)>& fill) {
  AtomicFile target(path);
  File file = File::create(target.part(), path);
  fill(file);
  file.close();
  target.commit();
}

}  // namespace cambium::io
