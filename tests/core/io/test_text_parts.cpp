// A text of which every rank has a part.
#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "core/io/text_parts.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;

namespace {
std::string content(const std::string& name) {
  std::ifstream in(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
std::string part_of(int rank, int lines) {
  std::string out;
  for (int k = 0; k < lines; ++k) out += fmt::format("{},{}\n", rank, k);
  return out;
}
}  // namespace

TEST_CASE("parts stand behind the head in the order of their places") {
  const Comm comm;
  const SharedScratch scratch(comm);
  const auto name = scratch.file("parts.csv");
  // Places fall with the rank; the part of rank 1 is empty, that of rank 2 is larger than a message.
  const auto lines = [](int rank) { return rank == 1 ? 0 : rank == 2 ? 3'000'000 : 5; };
  io::write_text_parts(name, "rank,line\n", part_of(comm.rank(), lines(comm.rank())), 10 - comm.rank(), comm);
  std::string expected = "rank,line\n";
  for (int rank = comm.size(); rank-- > 0;) expected += part_of(rank, lines(rank));
  if (comm.root()) CHECK(content(name) == expected);
  if (comm.root()) CHECK(!std::filesystem::exists(name + ".part"));
}

TEST_CASE("a text that does not fit leaves the old one, and every rank says so") {
  const Comm comm;
  const SharedScratch scratch(comm);
  const auto name = scratch.file("parts.csv");
  io::write_text_parts(name, "", comm.root() ? "old" : "", comm.rank(), comm);
  {
    FullDisk disk(1000);
    CHECK(message([&] { io::write_text_parts(name, "", std::string(5000, 'x'), comm.rank(), comm); }) ==
          "cannot write '" + name +
              "': File too large; raise the limit that this shell or job sets for the size of a file (ulimit -f), then "
              "resume");
  }
  if (comm.root()) CHECK(content(name) == "old");
}
