#pragma once
#include <unistd.h>

#include <filesystem>
#include <string>

#include "core/parallel/comm.hpp"

namespace cambium {

/// One folder for all ranks that goes away with the test.
struct SharedScratch {
  const Comm& comm;
  std::string folder;
  explicit SharedScratch(const Comm& c) : comm(c) {
    const auto id = comm.all_gather(std::int64_t{getpid()})[0];
    folder = (std::filesystem::temp_directory_path() / ("cambium_shared_" + std::to_string(id))).string();
    if (comm.root()) std::filesystem::create_directories(folder);
    comm.barrier();
  }
  ~SharedScratch() {
    comm.barrier();
    if (comm.root()) std::filesystem::remove_all(folder);
  }
  std::string file(const std::string& name) const { return folder + "/" + name; }
};

}  // namespace cambium
