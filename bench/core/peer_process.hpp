#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace cambium {

/// A child process that answers each input line with one line. It gets no environment variables that identify MPI
/// ranks, and ends with this object.
class PeerProcess {
 public:
  explicit PeerProcess(const std::vector<std::string>& words);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  /// The answer, without its line end; none if the program did not start or has ended.
  std::optional<std::string> ask(const std::string& line);

 private:
  pid_t child_ = 0;
  int to_ = -1, from_ = -1;
};

}  // namespace cambium
