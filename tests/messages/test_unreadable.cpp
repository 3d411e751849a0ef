// Files that exist and may not be read. Root may read everything, so a test that runs as root steps down to nobody for
// the call.
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "core/io/npy.hpp"
#include "plugins/deepmd/model/model_tree.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"

using namespace cambium;

namespace {

class Nobody {
 public:
  Nobody() : was_(geteuid()) {
    if (was_ == 0) REQUIRE(seteuid(65534) == 0);
  }
  ~Nobody() {
    if (was_ == 0 && seteuid(0) != 0) std::abort();
  }

 private:
  uid_t was_;
};

std::string closed(const Scratch& scratch, const std::string& name) {
  const std::string path = scratch.file(name);
  std::ofstream(path) << "content";
  chmod(path.substr(0, path.rfind('/')).c_str(), 0755);
  chmod(path.c_str(), 0000);
  return path;
}

}  // namespace

TEST_CASE("files that may not be read") {
  const Scratch scratch;
  const std::string array = closed(scratch, "coord.npy"), model = closed(scratch, "model.yaml");
  const Nobody nobody;
  CHECK(message([&] { io::read_npy(array); }) == array + ": cannot be opened for reading");
  CHECK(message([&] { deepmd::detail::read_yaml(model); }) == model + ": cannot be opened for reading");
}
