#pragma once
#include <cstddef>
#include <functional>
#include <string>

namespace cambium::md {

/// A connection to a server of i-PI's protocol: V. Kapil et al., Comput. Phys. Commun. 236, 214 (2019). Headers are
/// words of 12 bytes, numbers as they lie in memory.
class IpiSocket {
 public:
  /// `unix_name`: NAME of the file ipi_NAME in /tmp, or a path; empty for TCP to `host` and `port`. Tries for
  /// `seconds`, until a server listens. `stopped` ends waiting, here and in receive(). InputError where nobody listens.
  IpiSocket(const std::string& unix_name, const std::string& host, int port, double seconds,
            std::function<bool()> stopped);
  ~IpiSocket();
  IpiSocket(const IpiSocket&) = delete;
  IpiSocket& operator=(const IpiSocket&) = delete;

  /// The next header without trailing blanks; empty when the server has closed the connection or `stopped` says so.
  std::string header();
  /// False when the connection ended before all bytes came.
  [[nodiscard]] bool receive(void* data, std::size_t bytes);
  /// InputError when the server is gone.
  void send_header(const std::string& word);
  void send(const void* data, std::size_t bytes);

 private:
  int file_ = -1;
  std::string place_;
  std::function<bool()> stopped_;
};

}  // namespace cambium::md
