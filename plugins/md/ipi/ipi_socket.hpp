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

  /// The next header without trailing blanks; empty when the server has closed the connection between two messages or
  /// `stopped` is true. InputError if it closed inside a header, or before it had read the last reply.
  std::string header();
  /// False if `stopped` became true before all bytes arrived. InputError if the connection ended before.
  [[nodiscard]] bool receive(void* data, std::size_t bytes);
  /// InputError if the connection is closed.
  void send_header(const std::string& word);
  void send(const void* data, std::size_t bytes);

 private:
  std::size_t take(char* to, std::size_t bytes);
  [[nodiscard]] bool reply_unread() const;
  [[noreturn]] void broken(const char* inside) const;

  int file_ = -1;
  std::string place_;
  std::function<bool()> stopped_;
};

}  // namespace cambium::md
