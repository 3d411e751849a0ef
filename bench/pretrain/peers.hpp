#pragma once
#include <fmt/format.h>

#include <ctime>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "bench/core/peer_process.hpp"
#include "core/parallel/context.hpp"

namespace cambium::pretrain {

/// Reference implementations in Python, and the files through which they get their input.
class Peers {
 public:
  /// Their names go into `out` as peer_NAME, with the version or "not there".
  Peers(const std::string& script, bool wanted, nlohmann::json& out, Context& context);
  ~Peers();
  Peers(const Peers&) = delete;
  Peers& operator=(const Peers&) = delete;

  bool has(const std::string& name) const;
  /// The answer to a line, as JSON; null if the process has ended or failed, which is logged.
  nlohmann::json ask(const std::string& line);

  /// Writes values in their memory representation; returns the file name. The files are removed with this object.
  template <class T>
  std::string file(const std::string& name, std::span<const T> values) {
    return raw_file(name, values.data(), values.size_bytes());
  }
  std::string text_file(const std::string& name, const std::string& text) {
    return raw_file(name, text.data(), text.size());
  }

 private:
  std::string raw_file(const std::string& name, const void* data, std::size_t bytes);
  std::string folder_;
  std::unique_ptr<PeerProcess> process_;
  std::vector<std::string> names_;
  Context& context_;
};

/// CPU seconds of a call.
inline double processor_seconds(const std::function<void()>& call) {
  const std::clock_t begin = std::clock();
  call();
  return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

}  // namespace cambium::pretrain
