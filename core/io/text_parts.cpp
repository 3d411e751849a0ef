#include "core/io/text_parts.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "core/base/recorder.hpp"
#include "core/io/gather.hpp"
#include "core/io/hdf5/atomic_file.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/parallel/agree.hpp"

namespace cambium::io {

namespace {

/// Offset in the file of the part of each rank.
std::vector<std::int64_t> beginnings(std::int64_t at, const std::vector<std::int64_t>& sizes,
                                     const std::vector<std::int64_t>& places) {
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return places[a] < places[b]; });
  std::vector<std::int64_t> out(sizes.size());
  for (const auto rank : order) {
    out[rank] = at;
    at += sizes[rank];
  }
  return out;
}

/// A file that is written here and there; the first fault stays.
class Places {
 public:
  explicit Places(const std::string& path) : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666)) {
    if (descriptor_ < 0) fault_ = errno;
  }
  ~Places() { close(); }
  Places(const Places&) = delete;
  Places& operator=(const Places&) = delete;
  void write(const char* bytes, std::int64_t count, std::int64_t at) {
    while (fault_ == 0 && count > 0) {
      const ssize_t put = ::pwrite(descriptor_, bytes, static_cast<std::size_t>(count), at);
      if (put < 0 && errno != EINTR) fault_ = errno;
      if (put > 0) {
        bytes += put;
        count -= put;
        at += put;
      }
    }
  }
  int close() {
    if (descriptor_ >= 0 && ::close(descriptor_) != 0 && fault_ == 0) fault_ = errno;
    descriptor_ = -1;
    return fault_;
  }

 private:
  int descriptor_, fault_ = 0;
};

}  // namespace

void write_text_parts(const std::string& path, std::string_view head, std::string_view own, std::int64_t place,
                      const Comm& comm) {
  const auto size = static_cast<std::int64_t>(own.size());
  const Region region("write a text", WorkKind::files, {.bytes = static_cast<double>(size)});
  const auto sizes = comm.all_gather(size), at = beginnings(std::ssize(head), sizes, comm.all_gather(place));
  std::unique_ptr<AtomicFile> target;
  std::unique_ptr<Places> file;
  if (comm.root()) {
    target = std::make_unique<AtomicFile>(path);
    file = std::make_unique<Places>(target->part());
  }
  if (file) file->write(head.data(), std::ssize(head), 0);
  std::size_t rank = 0;
  std::int64_t before = 0;  // bytes of lower ranks
  gather_rows(comm, tensor_of(reinterpret_cast<const std::uint8_t*>(own.data()), {size}),
              [&](std::int64_t first, const TensorRef& piece) {
                while (first - before >= sizes[rank]) before += sizes[rank++];
                file->write(static_cast<const char*>(piece.data), piece.shape[0], at[rank] + first - before);
              });
  on_root(comm, [&] {
    if (const int fault = file->close()) refuse_write(path, std::strerror(fault));
    target->commit();
  });
}

}  // namespace cambium::io
