#pragma once
#include <cstddef>
#include <functional>
#include <string>

namespace cambium::md {

/// A connection to a server of the i-PI protocol: V. Kapil et al., Comput. Phys. Commun. 236, 214 (2019). Headers are
/// words of 12 bytes, numbers are in native byte order.
class IpiSocket {
 public:
  /// `unix_name`: NAME of the file ipi_NAME in /tmp, or a path; empty for TCP to `host` and `port`. Retries for
  /// `seconds` until a server listens. `stopped` aborts waiting, here and in receive(). InputError if no server
  /// listens.
  IpiSocket(const std::string& unix_name, const std::string& host, int port, double seconds,
            std::function<bool()> stopped);
  ~IpiSocket();
  IpiSocket(const IpiSocket&) = delete;
  IpiSocket& operator=(const IpiSocket&) = delete;

  /// The next header without trailing blanks; empty when the server has closed the connection or `stopped` is true.
  std::string header();
  /// False if the connection ended before all bytes arrived.
  [[nodiscard]] bool receive(void* data, std::size_t bytes);
  /// InputError if the connection is closed.
  void send_header(const std::string& word);
  void send(const void* data, std::size_t bytes);

 private:
  int file_ = -1;
  std::string place_;
  std::function<bool()> stopped_;
};

}  // namespace cambium::md
