#include "plugins/md/ipi/ipi_socket.hpp"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/base/error.hpp"
#include "core/base/timing.hpp"

namespace cambium::md {

namespace {

constexpr std::size_t header_bytes = 12;
constexpr const char* socket_folder = "/tmp";  // fixed by the protocol, independent of this machine's temporary folder

/// A connected socket, or -1.
int connect_unix(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw InputError(fmt::format("ipi: the path '{}' of the socket is longer than the {} characters that sockets have",
                                 path, sizeof address.sun_path - 1));
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int file = socket(AF_UNIX, SOCK_STREAM, 0);
  if (file >= 0 && connect(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return file;
  if (file >= 0) close(file);
  return -1;
}

int connect_tcp(const std::string& host, int port) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  if (const int problem = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found))
    throw InputError(fmt::format("ipi: the host '{}' is not known ({})", host, gai_strerror(problem)));
  int file = -1;
  for (const addrinfo* one = found; one && file < 0; one = one->ai_next) {
    file = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
    if (file >= 0 && connect(file, one->ai_addr, one->ai_addrlen) != 0) {
      close(file);
      file = -1;
    }
  }
  freeaddrinfo(found);
  const int now = 1;  // replies are short: do not wait for more data
  if (file >= 0) setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &now, sizeof now);
  return file;
}

}  // namespace

IpiSocket::IpiSocket(const std::string& unix_name, const std::string& host, int port, double seconds,
                     std::function<bool()> stopped)
    : stopped_(std::move(stopped)) {
  const bool local = !unix_name.empty();
  const std::string path = unix_name.starts_with('/') ? unix_name : fmt::format("{}/ipi_{}", socket_folder, unix_name);
  place_ = local ? path : fmt::format("{}:{}", host, port);
  for (const double start = wall_seconds();;) {
    file_ = local ? connect_unix(path) : connect_tcp(host, port);
    if (file_ >= 0) return;
    if (stopped_() || wall_seconds() - start > seconds)
      throw InputError(
          fmt::format("ipi: no server listens at {} (waited {:g} s); start it first, or give a longer "
                      "`timeout`",
                      place_, seconds));
    usleep(100'000);
  }
}

IpiSocket::~IpiSocket() {
  if (file_ >= 0) close(file_);
}

std::size_t IpiSocket::take(char* to, std::size_t bytes) {
  std::size_t had = 0;
  while (had < bytes) {
    pollfd one{file_, POLLIN, 0};
    const int ready = poll(&one, 1, 500);
    if (stopped_()) break;
    if (ready <= 0) continue;
    const auto got = recv(file_, to + had, bytes - had, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) broken("reply");  // the server closed with bytes of a reply unread
    if (got == 0) break;
    had += static_cast<std::size_t>(got);
  }
  return had;
}

/// The end of a stream does not say whether the server had read the last reply: the bytes that it has not acknowledged,
/// or the reset that it sent for them, do.
bool IpiSocket::reply_unread() const {
  int bytes = 0, problem = 0;
  socklen_t size = sizeof problem;
  if (ioctl(file_, TIOCOUTQ, &bytes) == 0 && bytes > 0) return true;
  return getsockopt(file_, SOL_SOCKET, SO_ERROR, &problem, &size) == 0 && problem != 0;
}

void IpiSocket::broken(const char* inside) const {
  throw InputError(fmt::format("ipi: the server at {} closed the connection inside a {}", place_, inside));
}

bool IpiSocket::receive(void* data, std::size_t bytes) {
  if (take(static_cast<char*>(data), bytes) == bytes) return true;
  if (stopped_()) return false;
  broken("message");
}

std::string IpiSocket::header() {
  char text[header_bytes];
  const auto had = take(text, sizeof text);
  if (had < sizeof text) {
    if (stopped_()) return {};
    if (had > 0) broken("message");
    if (reply_unread()) broken("reply");
    return {};
  }
  std::string word(text, sizeof text);
  word.erase(word.find_last_not_of(std::string(" \0", 2)) + 1);
  return word;
}

void IpiSocket::send(const void* data, std::size_t bytes) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const auto put = ::send(file_, from, bytes, MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) broken("reply");
    from += put;
    bytes -= static_cast<std::size_t>(put);
  }
}

void IpiSocket::send_header(const std::string& word) {
  std::string text = word;
  text.resize(header_bytes, ' ');
  send(text.data(), text.size());
}

}  // namespace cambium::md
