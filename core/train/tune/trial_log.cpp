#include "core/train/tune/trial_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/base/text.hpp"
#include "core/io/hdf5/atomic_file.hpp"

namespace cambium::tune {

namespace {

using Json = nlohmann::json;

std::string line_of(const Trial& t) {
  const Json line = {{"number", t.number},     {"known", t.known},           {"genome", t.genome},
                     {"reward", t.reward},     {"best_epoch", t.best_epoch}, {"epochs", t.epochs},
                     {"attempts", t.attempts}, {"worker", t.worker},         {"copy_of", t.copy_of},
                     {"failed", t.failed},     {"rungs", t.rungs},           {"started", t.started},
                     {"seconds", t.seconds}};
  return line.dump() + "\n";  // values with all digits; NaN is written as null
}

Trial trial_of(const Json& j) {
  Trial t;
  j.at("number").get_to(t.number);
  j.at("known").get_to(t.known);
  j.at("genome").get_to(t.genome);
  j.at("reward").get_to(t.reward);
  j.at("best_epoch").get_to(t.best_epoch);
  j.at("epochs").get_to(t.epochs);
  j.at("attempts").get_to(t.attempts);
  j.at("worker").get_to(t.worker);
  j.at("copy_of").get_to(t.copy_of);
  j.at("failed").get_to(t.failed);
  j.at("started").get_to(t.started);
  j.at("seconds").get_to(t.seconds);
  for (const auto& r : j.at("rungs"))
    t.rungs.push_back(r.is_null() ? std::numeric_limits<double>::quiet_NaN() : r.get<double>());
  return t;
}

}  // namespace

TrialLog::TrialLog(const std::string& path, const std::string& key, const std::vector<Trial>& trials) : path_(path) {
  std::string text = Json{{"key", key}}.dump() + "\n";
  for (const auto& t : trials) text += line_of(t);
  io::write_file_atomically(path, text);
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor_ < 0) io::refuse_write(path_, std::strerror(errno));
}

TrialLog::TrialLog(const std::string& path) : path_(path) {
  descriptor_ = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
  if (descriptor_ < 0 || ::ftruncate(descriptor_, static_cast<off_t>(read(path).bytes)) != 0)
    io::refuse_write(path_, std::strerror(errno));
}

TrialLog::~TrialLog() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void TrialLog::write(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t put = ::write(descriptor_, text.data(), text.size());
    if (put >= 0)
      text.remove_prefix(static_cast<std::size_t>(put));
    else if (errno != EINTR)
      io::refuse_write(path_, std::strerror(errno));
  }
}

void TrialLog::append(const Trial& trial) { write(line_of(trial)); }

void TrialLog::synchronise() const {
  if (::fdatasync(descriptor_) != 0 && errno != EINVAL) io::refuse_write(path_, std::strerror(errno));
}

TrialLog::Content TrialLog::read(const std::string& path) {
  const std::string text = text_of_file(path);
  Content out;
  for (std::size_t end; (end = text.find('\n', out.bytes)) != std::string::npos; out.bytes = end + 1) {
    const Json line = Json::parse(text.begin() + static_cast<std::ptrdiff_t>(out.bytes),
                                  text.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
    if (line.is_discarded()) break;
    if (out.bytes == 0)
      out.key = line.at("key");
    else
      out.trials.push_back(trial_of(line));
  }
  return out;
}

}  // namespace cambium::tune
