#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace cambium::tasks {

/// Append-only file with values of finished tasks: after add() returns, a record survives the death of the process,
/// after synchronise() that of the machine. A record torn by either is truncated when the file is opened again. Owned
/// by one rank.
class TaskJournal {
 public:
  /// `key` must be the same when the work is resumed. `resume`: uses an existing file, or creates one; otherwise starts
  /// from scratch. InputError if the file holds results of other work, or cannot be written.
  TaskJournal(std::string path, const std::string& key, bool resume);
  ~TaskJournal();
  TaskJournal(const TaskJournal&) = delete;
  TaskJournal& operator=(const TaskJournal&) = delete;

  /// Pieces that were finished when it was opened.
  const std::map<std::int64_t, std::vector<std::byte>>& finished() const { return finished_; }
  /// InputError when the disk takes no more.
  void add(std::int64_t task, std::span<const std::byte> value);
  void synchronise() const;
  const std::string& path() const { return path_; }

 private:
  void read(const std::string& head);
  void write(std::span<const std::byte> bytes) const;
  [[noreturn]] void refuse(int reason) const;

  std::string path_;
  int file_ = -1;
  std::map<std::int64_t, std::vector<std::byte>> finished_;
};

}  // namespace cambium::tasks
