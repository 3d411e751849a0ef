#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace cambium {

/// A program that answers each line written to it with one line. It sees none of the variables by which MPI knows its
/// ranks, and ends with this object.
class PeerProcess {
 public:
  explicit PeerProcess(const std::vector<std::string>& words);
  ~PeerProcess();
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  /// The answer, without its end of line; none where the program did not start or has ended.
  std::optional<std::string> ask(const std::string& line);

 private:
  pid_t child_ = 0;
  int to_ = -1, from_ = -1;
};

}  // namespace cambium
