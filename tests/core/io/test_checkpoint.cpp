#include <cstring>
#include <fstream>
#include <memory>

#include "core/io/checkpoint.hpp"
#include "core/parallel/agree.hpp"
#include "core/particles/tensor_of_view.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"
#include "tests/shared_scratch.hpp"

using namespace cambium;
namespace fs = std::filesystem;

namespace {

/// A state with rows of every kind: whole and strided, of several types, a cell field and global ones.
struct Sample {
  State state;
  std::vector<double> x, global;  // x: rows of four of which three are stored
  std::vector<std::int64_t> tag;
  std::vector<std::uint32_t> group;
  std::vector<float> cell;
  double scalar = 0.0;
  int nlocal = 0;

  Sample() {
    add("position", At::particle, "angstrom", [this] {
      TensorRef t = io::tensor_of(x.data(), {nlocal, 3});
      t.stride[0] = 4;
      return t;
    });
    add("tag", At::particle, "", [this] { return io::tensor_of(tag.data(), {nlocal}); });
    add("group", At::particle, "", [this] { return io::tensor_of(group.data(), {nlocal}); });
    add("density", At::cell, "1", [this] { return io::tensor_of(cell.data(), {std::ssize(cell) / 2, 2}); });
    add("moments", At::global, "", [this] { return io::tensor_of(global.data(), {3}); });
    add("strain", At::global, "", [this] { return io::tensor_of(&scalar, {}); });
    state.add({"force", At::particle, "eV/angstrom", "not stored", false, nullptr});
  }
  void add(const char* name, At at, const char* unit, std::function<TensorRef()> tensor) {
    state.add({name, at, unit, "", true, [tensor] {
                 TensorRef t = tensor();
                 t.is_const = false;
                 return t;
               }});
  }
  void resize(std::int64_t rows) {
    nlocal = static_cast<int>(rows);
    x.assign(4 * rows, -1.0);
    tag.assign(rows, 0);
    group.assign(rows, 0);
  }
};

/// Uneven rows; the last rank of several has none.
int rows_of(const Comm& comm) { return comm.size() > 1 && comm.rank() == comm.size() - 1 ? 0 : 5 + 3 * comm.rank(); }

void fill(Sample& s, const Comm& comm) {
  s.resize(rows_of(comm));
  for (int i = 0; i < s.nlocal; ++i) {
    for (int k = 0; k < 4; ++k) s.x[4 * i + k] = std::sin(1.0 + comm.rank() + 0.1 * i + k);
    s.tag[i] = 1000 * comm.rank() + i;
    s.group[i] = 0x80000000u + i;
  }
  s.cell.assign(2 * (2 + comm.rank()), 0.5f + comm.rank());
  s.global = {1.0 / 3.0, 2.0, 3.0};
  s.scalar = 0.1;
  s.state.step = 1234;
  s.state.time = 1.234;
  s.state.particles.box.h[0][0] = 10.5;
  s.state.particles.box.h[1][0] = -1.25;
  s.state.particles.box.origin[2] = 0.75;
  s.state.particles.species = {{"Cu", 63.546}, {"O", 15.999}};
}

io::Provenance sample_provenance(const Comm& comm) {
  io::Provenance p;
  p.version = "0.1.0";
  p.ranks = comm.size();
  p.deck = "run: {name: test}\n";
  return p;
}

void save_physics(io::Group& root) { root.create_group("physics").write("thermostat_energy", 2.5); }

}  // namespace

TEST_CASE("the same number of ranks gets every bit of its own rows back") {
  const Comm comm;
  const SharedScratch scratch(comm);
  for (auto transfer : {io::Transfer::gather, io::Transfer::collective}) {
    if (transfer == io::Transfer::collective && !io::hdf5_is_parallel()) continue;
    Sample saved;
    fill(saved, comm);
    const std::string name = scratch.file("restart.1234.h5");
    io::write_checkpoint(name, saved.state, comm, sample_provenance(comm), save_physics, transfer);
    CHECK_FALSE(fs::exists(name + ".part"));

    const io::Checkpoint checkpoint(name, comm);
    CHECK(checkpoint.same_ranks());
    CHECK(checkpoint.step() == 1234);
    CHECK(checkpoint.deck() == "run: {name: test}\n");
    CHECK(checkpoint.file().group("physics").read<double>("thermostat_energy") == 2.5);
    Sample back;
    back.cell.resize(2 * checkpoint.rows(At::cell));
    back.global.resize(3);
    checkpoint.restore(back.state, [&](std::int64_t rows) { back.resize(rows); });
    REQUIRE(back.nlocal == saved.nlocal);
    for (int i = 0; i < saved.nlocal; ++i) {
      CHECK(std::memcmp(&back.x[4 * i], &saved.x[4 * i], 3 * sizeof(double)) == 0);
      CHECK(back.x[4 * i + 3] == -1.0);  // between the rows nothing was touched
    }
    CHECK(back.tag == saved.tag);
    CHECK(back.group == saved.group);
    CHECK(back.cell == saved.cell);
    CHECK(back.global == saved.global);
    CHECK(back.scalar == 0.1);
    CHECK(back.state.step == 1234);
    CHECK(back.state.time == 1.234);
    CHECK(std::memcmp(&back.state.particles.box, &saved.state.particles.box, sizeof(Box)) == 0);
    REQUIRE(back.state.particles.species.size() == 2);
    CHECK(back.state.particles.species[1].symbol == "O");
    CHECK(back.state.particles.species[1].mass == 15.999);
  }
}

TEST_CASE("another number of ranks gets all rows, spread evenly in order") {
  const Comm comm;
  const SharedScratch scratch(comm);
  const std::string name = scratch.file("restart.1234.h5");
  Sample saved;
  fill(saved, comm);
  io::write_checkpoint(name, saved.state, comm, sample_provenance(comm), save_physics);
  std::vector<std::int64_t> expected;
  for (int r = 0; r < comm.size(); ++r)
    for (int i = 0; i < (comm.size() > 1 && r == comm.size() - 1 ? 0 : 5 + 3 * r); ++i)
      expected.push_back(1000 * r + i);
  MPI_Comm alone;
  MPI_Comm_split(comm.handle(), comm.rank() % 2 == 1 ? 0 : 1, comm.rank(), &alone);
  {
    const Comm few(alone);
    const io::Checkpoint checkpoint(name, few);
    CHECK(checkpoint.same_ranks() == (few.size() == comm.size()));
    Sample back;
    back.cell.resize(2 * checkpoint.rows(At::cell));
    back.global.resize(3);
    checkpoint.restore(back.state, [&](std::int64_t rows) { back.resize(rows); });
    const std::int64_t first = few.exclusive_sum(std::int64_t{back.nlocal});
    CHECK(few.sum(std::int64_t{back.nlocal}) == std::ssize(expected));
    CHECK(std::abs(back.nlocal - std::ssize(expected) / few.size()) <= 1);
    for (int i = 0; i < back.nlocal; ++i) CHECK(back.tag[i] == expected[first + i]);
  }
  MPI_Comm_free(&alone);
}

TEST_CASE("cells go where a state has them, divided evenly or not, on as many ranks or on others") {
  const Comm comm;
  const SharedScratch scratch(comm);
  const std::string name = scratch.file("restart.1234.h5");
  Sample saved;
  fill(saved, comm);
  io::write_checkpoint(name, saved.state, comm, sample_provenance(comm), save_physics);
  std::vector<float> expected;
  for (int r = 0; r < comm.size(); ++r) expected.insert(expected.end(), 2 * (2 + r), 0.5f + r);
  MPI_Comm half;
  MPI_Comm_split(comm.handle(), comm.rank() % 2, comm.rank(), &half);
  {
    const Comm few(half);
    const std::int64_t all = std::ssize(expected) / 2, mine = few.root() ? all - (few.size() - 1) : 1;
    for (const Comm* ranks : {&comm, &few}) {
      const io::Checkpoint checkpoint(name, *ranks);
      Sample back;
      const std::int64_t rows = ranks == &few ? mine : ranks->root() ? all - (ranks->size() - 1) : 1;
      back.cell.resize(2 * rows);
      back.global.resize(3);
      checkpoint.restore(back.state, [&](std::int64_t n) { back.resize(n); });
      const auto first = expected.begin() + 2 * ranks->exclusive_sum(rows);
      CHECK(back.cell == std::vector<float>(first, first + 2 * rows));
      back.cell.resize(2 * (rows + 1));  // more than there are
      CHECK_THROWS_AS(checkpoint.restore(back.state, [&](std::int64_t n) { back.resize(n); }), InputError);
    }
  }
  MPI_Comm_free(&half);
}

TEST_CASE("gathered and collective checkpoints hold the same bytes") {
  if (!io::hdf5_is_parallel()) return;
  const Comm comm;
  const SharedScratch scratch(comm);
  Sample saved;
  fill(saved, comm);
  io::write_checkpoint(scratch.file("a.h5"), saved.state, comm, sample_provenance(comm), save_physics);
  io::write_checkpoint(scratch.file("b.h5"), saved.state, comm, sample_provenance(comm), save_physics,
                       io::Transfer::collective);
  if (!comm.root()) return;
  const auto a = io::File::open(scratch.file("a.h5")), b = io::File::open(scratch.file("b.h5"));
  CHECK(a.list() == b.list());
  for (const auto& field : a.group("fields").list())
    CHECK(a.read<std::vector<double>>("fields/" + field) == b.read<std::vector<double>>("fields/" + field));
  CHECK(a.dataset("fields/position").attribute<std::string>("unit") == "angstrom");
  CHECK(a.dataset("fields/group").dtype() == DType::u32);
}

TEST_CASE("files that are no checkpoint are refused with what helps") {
  const Comm comm;
  const SharedScratch scratch(comm);
  const std::string good = scratch.file("restart.100.h5"), bad = scratch.file("restart.200.h5"),
                    foreign = scratch.file("a.h5");
  Sample saved;
  fill(saved, comm);
  io::write_checkpoint(good, saved.state, comm, sample_provenance(comm), save_physics);
  std::uintmax_t size = 0;
  io::on_root(comm, [&] {
    size = fs::file_size(good) - 32;  // HDF5 knows nothing of the checksum behind its end
    fs::copy_file(good, bad);
    fs::resize_file(bad, 5000);
    io::File::create(foreign).write("weights", 1.0);
  });
  size = static_cast<std::uintmax_t>(comm.all_gather(static_cast<std::int64_t>(size))[0]);
  CHECK(message([&] { io::Checkpoint(bad, comm); }) ==
        "cannot open '" + bad + "': it is truncated (5000 bytes found, " + std::to_string(size) +
            " expected); copy it again from its source or name another file; the folder also holds restart.100.h5");
  CHECK(message([&] { io::Checkpoint(foreign, comm); }) ==
        "'" + foreign +
            "' is not a checkpoint of Cambium: it has no group '/checkpoint', it holds: weights; give a file named "
            "restart.<step>.h5 from a run directory");
  Sample other;
  other.cell.resize(2 * io::Checkpoint(good, comm).rows(At::cell));
  other.global.resize(3);
  other.add("spin", At::particle, "", [] { return TensorRef{}; });
  CHECK(message([&] { io::Checkpoint(good, comm).restore(other.state, [&](std::int64_t n) { other.resize(n); }); }) ==
        "the checkpoint '" + good +
            "' has no field 'spin' (it has: density, group, moments, position, strain, tag): it was written by another "
            "physics; resume with the deck that wrote it or start afresh");
}

TEST_CASE("a checkpoint into a folder that is not there fails alike on every rank") {
  const Comm comm;
  Sample saved;
  fill(saved, comm);
  const std::string name = "/nonexistent_folder/restart.1.h5";
  CHECK(message([&] { io::write_checkpoint(name, saved.state, comm, sample_provenance(comm), save_physics); }) ==
        "cannot make the file '" + name +
            "': No such file or directory; choose a folder that exists and that you may write to");
}

TEST_CASE("a checkpoint that does not fit leaves the old one") {
  const Comm comm;
  const SharedScratch scratch(comm);
  const std::string name = scratch.file("restart.1.h5");
  Sample saved;
  fill(saved, comm);
  io::write_checkpoint(name, saved.state, comm, sample_provenance(comm), save_physics);
  Sample big;
  fill(big, comm);
  big.global.assign(3, 7.0);
  big.resize(100000);
  for (auto transfer : {io::Transfer::gather, io::Transfer::collective}) {
    if (transfer == io::Transfer::collective && !io::hdf5_is_parallel()) continue;
    const FullDisk disk(200000);
    CHECK(message([&] {
            io::write_checkpoint(name, big.state, comm, sample_provenance(comm), save_physics, transfer);
          }) == "cannot write '" + name +
                    "': File too large; raise the limit that this shell or job sets for the size of a file (ulimit "
                    "-f), then resume");
    comm.barrier();  // rank 0 removes the part after the others know
    CHECK_FALSE(fs::exists(name + ".part"));
  }
  CHECK(io::Checkpoint(name, comm).file().read<std::vector<double>>("fields/moments")[1] == 2.0);
}
