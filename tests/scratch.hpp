#pragma once
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <functional>
#include <string>

#include "core/base/error.hpp"

namespace cambium {

/// A folder of this process that goes away with the test.
struct Scratch {
  std::filesystem::path folder;
  explicit Scratch(const std::string& name = "scratch")
      : folder(std::filesystem::temp_directory_path() / ("cambium_" + name + "_" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder);
  }
  ~Scratch() { std::filesystem::remove_all(folder); }
  std::string file(const std::string& name) const { return (folder / name).string(); }
};

/// A disk that is full after `bytes` per file, as far as this process can tell.
struct FullDisk {
  rlimit before{};
  explicit FullDisk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before);
    const rlimit small{bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before); }
};

/// The text of the InputError that `action` throws.
inline std::string message(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace cambium
