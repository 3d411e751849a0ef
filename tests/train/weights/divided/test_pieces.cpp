// Divided weights in files that no rank holds whole: the same bits in another division, and how much a rank holds
// meanwhile.
#include <filesystem>
#include <fstream>

#include "core/io/hdf5/h5_image.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/parallel/agree.hpp"
#include "core/train/run/train_checkpoint.hpp"
#include "core/train/weights/whole_pieces.hpp"
#include "tests/catch.hpp"
#include "tests/train/weights/divided/layers.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;
namespace fs = std::filesystem;

namespace {

/// A folder that all ranks see.
std::string scratch(const Comm& comm) {
  std::string path;
  if (comm.root()) {
    path = (fs::temp_directory_path() / ("cambium_pieces_" + std::to_string(::getpid()))).string();
    fs::remove_all(path);
    fs::create_directories(path);
  }
  comm.broadcast(path);
  return path;
}

/// Writes a manifest and its shares.
void write(const std::string& path, InPieces& pieces, bool best, bool behind, const Comm& comm) {
  const auto arrays = pieces.arrays(best);
  io::ShareWriter shares(path, arrays, pieces.written(),
                         behind ? std::optional<std::vector<char>>(std::in_place) : std::nullopt, comm);
  for (const auto& array : arrays)
    pieces.write(array, [&](std::span<const std::byte> numbers) { shares.put(numbers); });
  if (behind) shares.start();
  shares.finish();
  io::on_root(comm, [&] {
    io::write_sealed_h5(path, [&](io::File& file) { shares.describe(file); });
    shares.remove_others();
  });
}

void read(const std::string& path, InPieces& pieces, bool best) {
  const auto file = io::File::open(path);
  io::ShareReader shares(file);
  pieces.read(best, pieces.steps(), [&](const io::SharedArray& array, io::Extent extent, std::byte* to) {
    shares.read(array.name, extent, array.dtype, to);
  });
}

template <class T>
bool same(const FlatBuffer& a, const FlatBuffer& b) {
  const auto x = packed<T>(a), y = packed<T>(b);
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), sizeof(T) * x.size()) == 0;
}

bool same(const Snapshot& a, const Snapshot& b, bool best) {
  bool all = same<float>(a.weights, b.weights) && a.states.size() == b.states.size();
  if (best) all = all && same<float>(a.best, b.best);
  if (a.average.bytes() > 0) all = all && same<float>(a.average, b.average);
  for (std::size_t k = 0; k < a.states.size(); ++k)
    all = all && (a.states[k].dtype() == DType::bf16 ? same<std::uint16_t>(a.states[k], b.states[k])
                                                     : same<float>(a.states[k], b.states[k]));
  return all;
}

std::string content(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

DivideSettings settings(bool average) {
  DivideSettings out{true, true, 5000};
  if (average) out.average = Average{0.9, 0};
  return out;
}

std::vector<Mesh::Level> levels_of(int ranks) {
  if (ranks % 2) return {{"world", ranks}};
  return {{"pair", 2}, {"world", ranks / 2}};
}

}  // namespace

TEST_CASE("pieces of a divided model have the same bits in every other division") {
  const Comm comm;
  Layers network(3, 40, 32);
  const auto path = scratch(comm) + "/restart.5.h5";
  const int levels = static_cast<int>(levels_of(comm.size()).size());
  for (const bool split : {false, true})
    for (const bool average : {false, true})
      for (int stage = 0; stage <= 4; ++stage) {
        // Stage 4: all within the first level, so that other ranks hold the same parts.
        const int depth = stage == 4 ? 1 : levels;
        const auto p = partition(levels_of(comm.size()), stage >= 3 ? depth : 0, stage >= 2 ? depth : 0,
                                 stage >= 1 ? depth : 0, 100);
        Run from(MPI_COMM_WORLD, p, network, settings(average), split);
        for (int k = 0; k < 5; ++k) {
          from.step(network, 8);
          if (k == 2) from.model.keep_best();
        }
        INFO("stage " << stage << ", split " << split << ", average " << average);
        write(path, *from.model.in_pieces(), true, stage % 2 == 0, comm);
        CHECK(io::share_damage(path, comm).empty());
        const auto expected = from.model.save(true);
        for (const int other : {3, 1, 0}) {
          Run to(MPI_COMM_WORLD,
                 partition({{"world", comm.size()}}, other >= 3, other >= 2, other >= 1, other ? 0 : 100), network,
                 settings(average), split);
          read(path, *to.model.in_pieces(), true);
          CHECK(same(to.model.save(true), expected, true));
        }
        Run alone(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), network, settings(average), split);
        read(path, *alone.model.in_pieces(), true);
        CHECK(same(alone.model.save(true), expected, true));
        comm.barrier();
      }
}

TEST_CASE("a rank holds no more than its share and one module while it writes and reads pieces") {
  const Comm comm;
  Layers network(4, 100, 96);
  const auto path = scratch(comm) + "/restart.1.h5";
  for (const bool split : {false, true})
    for (int stage = 1; stage <= 3; ++stage) {
      const auto p = partition({{"world", comm.size()}}, stage >= 3, stage >= 2, stage >= 1, 100);
      Run from(MPI_COMM_WORLD, p, network, split, true), to(MPI_COMM_WORLD, p, network, split, true);
      const auto share_of = [](const MemoryLedger& memory) {
        return static_cast<double>(memory.now(Held::weights) + memory.now(Held::gradients) + memory.now(Held::states));
      };
      // The largest module in the network's precision.
      const double module = 4.0 * 104 * 97;
      const auto copies = [](const Run& run) { return run.model.memory().peak(Held::copies); };
      const auto before = copies(from), before_to = copies(to);
      write(path, *from.model.in_pieces(), false, false, comm);
      read(path, *to.model.in_pieces(), false);
      for (const Run* run : {&from, &to}) {
        const auto& memory = run->model.memory();
        INFO("stage " << stage << ", split " << split << ": share " << share_of(memory) << ", most "
                      << memory.peak_in_steps());
        CHECK(static_cast<double>(memory.peak_in_steps()) <= 1.1 * (share_of(memory) + module));
        CHECK(memory.now(Held::copies) == 0);
        CHECK(memory.now(Held::windows) == 0);
      }
      // No whole copy beyond those of the first weights.
      CHECK(copies(from) == before);
      CHECK(copies(to) == before_to);
      comm.barrier();
    }
}

TEST_CASE("files of whole weights: each rank an equal part, read as any other") {
  const Comm comm;
  Layers network(3, 40, 32);
  const auto path = scratch(comm) + "/restart.7.h5";
  Run from(MPI_COMM_SELF, partition({{"world", 1}}, 0, 0, 0), network, settings(true));
  for (int k = 0; k < 5; ++k) from.step(network, 8);
  auto whole = from.model.save(false);
  const auto states = from.model.states();
  WholePieces pieces(whole, states, comm.rank(), comm.size());
  write(path, pieces, false, false, comm);
  Run to(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 1, 1, 1), network, settings(true));
  read(path, *to.model.in_pieces(), false);
  CHECK(same(to.model.save(false), whole, false));
  auto again = from.model.save(false);
  with_real(again.weights.dtype(), [&]<class T>() { again.weights.zero(); });
  WholePieces back(again, states, 0, 1);
  read(path, back, false);
  CHECK(same(again, whole, false));
}

TEST_CASE("shares written behind have the same bytes") {
  const Comm comm;
  Layers network(3, 40, 32);
  const auto folder = scratch(comm);
  Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 1, 1, 1), network, true, true);
  for (int k = 0; k < 3; ++k) run.step(network, 8);
  std::vector<std::string> written;
  for (const bool behind : {false, true}) {
    const auto path = folder + (behind ? "/restart.2.h5" : "/restart.1.h5");
    write(path, *run.model.in_pieces(), false, behind, comm);
    for (const auto& entry : fs::directory_iterator(io::shares_folder(path)))
      if (entry.path().extension() ==
          ("." + std::string(5 - std::to_string(comm.rank()).size(), '0') + std::to_string(comm.rank())))
        written.push_back(content(entry.path()));
  }
  REQUIRE(written.size() == 2);
  CHECK(written[0].size() > 10000 / static_cast<std::size_t>(comm.size()));
  CHECK(written[0] == written[1]);
}

TEST_CASE("shares that are missing, damaged, or of another checkpoint are named") {
  const Comm comm;
  Layers network(3, 40, 32);
  const auto folder = scratch(comm);
  Run run(MPI_COMM_WORLD, partition({{"world", comm.size()}}, 1, 1, 1), network, false, true);
  std::vector<fs::path> last;
  for (const int step : {1, 2}) {
    run.step(network, 8);
    const auto path = folder + "/restart." + std::to_string(step) + ".h5";
    write(path, *run.model.in_pieces(), false, false, comm);
    for (const auto& entry : fs::directory_iterator(io::shares_folder(path)))
      if (last.size() < static_cast<std::size_t>(step) || entry.path() > last.back()) {
        last.resize(static_cast<std::size_t>(step));
        last.back() = entry.path();
      }
  }
  const auto manifest = folder + "/restart.2.h5";
  const auto named =
      "shard " + std::to_string(comm.size()) + " of " + std::to_string(comm.size()) + " ('" + last[1].string() + "')";
  const auto change = [&](auto&& action) {
    comm.barrier();
    if (comm.root()) action();
    comm.barrier();
  };
  const auto whole = content(last[1]);
  change([&] { fs::copy_file(last[0], last[1], fs::copy_options::overwrite_existing); });
  CHECK(io::share_damage(manifest, comm) == named + " belongs to another checkpoint");
  change([&] {
    auto bytes = whole;
    bytes[bytes.size() / 2] ^= 1;
    std::ofstream(last[1], std::ios::binary) << bytes;
  });
  CHECK(io::share_damage(manifest, comm) == named + " is damaged: what it holds is not what was written");
  change([&] { std::ofstream(last[1], std::ios::binary) << whole.substr(0, 100); });
  CHECK(io::share_damage(manifest, comm) == named + " is damaged: what it holds is not what was written");
  {
    const auto file = io::File::open(manifest);
    io::ShareReader shares(file);
    std::vector<float> some(static_cast<std::size_t>(shares.elements()) + 1);
    auto* to = reinterpret_cast<std::byte*>(some.data());
    CHECK_THROWS_WITH(shares.read("/weights", {0, shares.elements()}, DType::f32, to),
                      "'" + last[1].string() +
                          "' cannot be read to its end (it is too short); put back a copy of it, or resume from "
                          "another checkpoint");
    CHECK_THROWS_WITH(shares.read("/weights", {0, 1}, DType::f64, to),
                      "'" + manifest +
                          "' has no array /weights of this type in its shards; resume with the model and optimizer "
                          "that wrote it");
    CHECK_THROWS_WITH(shares.read("/weights", {shares.elements(), 1}, DType::f32, to),
                      "'" + manifest + "' has no shard with element " + std::to_string(shares.elements()) +
                          " of /weights; the file is damaged or was changed, resume from another one");
  }
  change([&] { fs::remove(last[1]); });
  CHECK(io::share_damage(manifest, comm) == named + " is missing");
  Layers other(3, 40, 32);
  CHECK_THROWS_WITH(
      restore_network(other, manifest, run.context),
      "'" + manifest + "' cannot be read: " + named + " is missing; put back a copy of it, or take another file");
  change([&] { std::ofstream(last[1], std::ios::binary) << whole; });
  CHECK(io::share_damage(manifest, comm).empty());
  change([&] {
    auto file = io::File::append(manifest);
    file.group("/shares").set_attribute("format", 2);
  });
  CHECK_THROWS_WITH(io::share_damage(manifest, comm),
                    "'" + manifest +
                        "' stores its arrays in shards of format 2, this Cambium reads format 1; resume with the "
                        "version that wrote it");
  change([&] {
    auto file = io::File::append(manifest);
    file.group("/shares").set_attribute("format", 1);
    file.group("/shares").remove("lengths");
    file.group("/shares").write("lengths", std::vector<std::int64_t>{1, 2, 3, 4, 5, 6, 7, 8, 9});
  });
  CHECK_THROWS_WITH(io::share_damage(manifest, comm),
                    "'" + manifest +
                        "' lists inconsistent shards; the file is damaged or was changed, "
                        "resume from another one");
}

TEST_CASE("folders of shares without a manifest go away, and shares go with theirs") {
  const Comm comm;
  if (comm.size() > 1) return;
  const auto folder = scratch(comm);
  for (const char* name : {"restart.1.shares", "restart.2.shares", "restart.3.shares"})
    fs::create_directories(fs::path(folder) / name);
  std::ofstream(folder + "/restart.2.h5") << "2";
  std::ofstream(folder + "/restart.3.h5.damaged") << "3";
  io::remove_stray_shares(folder);
  CHECK(!fs::exists(folder + "/restart.1.shares"));
  CHECK(fs::exists(folder + "/restart.2.shares"));
  CHECK(fs::exists(folder + "/restart.3.shares"));
  io::remove_with_shares(folder + "/restart.2.h5");
  CHECK(!fs::exists(folder + "/restart.2.h5"));
  CHECK(!fs::exists(folder + "/restart.2.shares"));
}
