#include "core/parallel/farm/task_journal.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace cambium::tasks {

namespace {

/// Before every value.
struct RecordHead {
  std::int64_t task;
  std::uint64_t bytes, check;
};

/// FNV-1a over number, length and value: detects a half-written record.
std::uint64_t check_of(std::int64_t task, std::span<const std::byte> value) {
  std::uint64_t hash = 14695981039346656037ULL;
  const auto mix = [&](const void* data, std::size_t bytes) {
    const auto* const p = static_cast<const unsigned char*>(data);
    for (std::size_t k = 0; k < bytes; ++k) hash = (hash ^ p[k]) * 1099511628211ULL;
  };
  const std::uint64_t bytes = value.size();
  mix(&task, sizeof(task));
  mix(&bytes, sizeof(bytes));
  mix(value.data(), value.size());
  return hash;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace

TaskJournal::TaskJournal(std::string path, const std::string& key, bool resume) : path_(std::move(path)) {
  const std::string head = "cambium tasks: " + key + "\n";
  file_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | (resume ? 0 : O_TRUNC), 0644);
  if (file_ < 0) refuse(errno);
  read(head);
}

TaskJournal::~TaskJournal() {
  if (file_ >= 0) ::close(file_);
}

/// Reads complete records and truncates what follows; an empty file, or one that a crash left with an incomplete first
/// line, is started again.
void TaskJournal::read(const std::string& head) {
  const std::string text = text_of_file(path_);
  if (text.size() < head.size() && head.starts_with(text)) {
    if (::ftruncate(file_, 0) != 0) refuse(errno);
    write(bytes_of(head));
    return;
  }
  if (!text.starts_with(head))
    throw InputError(fmt::format(
        "'{}' holds results of other work: '{}' where '{}' is to be done; remove it, or use "
        "another run directory",
        path_, text.substr(0, std::min(text.find('\n'), std::size_t{200})), head.substr(0, head.size() - 1)));
  std::size_t at = head.size();
  for (RecordHead record; text.size() - at >= sizeof(record);) {
    std::memcpy(&record, text.data() + at, sizeof(record));
    const std::size_t begin = at + sizeof(record);
    if (record.bytes > text.size() - begin) break;
    const auto value = bytes_of(text).subspan(begin, record.bytes);
    if (check_of(record.task, value) != record.check) break;
    finished_[record.task].assign(value.begin(), value.end());
    at = begin + record.bytes;
  }
  if (::ftruncate(file_, static_cast<off_t>(at)) != 0) refuse(errno);
}

void TaskJournal::refuse(int reason) const {
  throw InputError(
      fmt::format("cannot write '{}': {}; make room or use another run directory", path_, std::strerror(reason)));
}

void TaskJournal::write(std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t put = ::write(file_, bytes.data(), bytes.size());
    if (put >= 0)
      bytes = bytes.subspan(put);
    else if (errno != EINTR)
      refuse(errno);
  }
}

void TaskJournal::add(std::int64_t task, std::span<const std::byte> value) {
  const RecordHead head{task, value.size(), check_of(task, value)};
  std::vector<std::byte> record(sizeof(head) + value.size());
  std::memcpy(record.data(), &head, sizeof(head));
  if (!value.empty()) std::memcpy(record.data() + sizeof(head), value.data(), value.size());
  write(record);
}

void TaskJournal::synchronise() const {
  if (::fdatasync(file_) != 0 && errno != EINVAL) refuse(errno);
}

}  // namespace cambium::tasks
