// Tables divided among ranks against whole ones: sums, changed rows, bytes, shares and files.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <functional>
#include <set>

#include "core/base/error.hpp"
#include "core/io/hdf5/h5.hpp"
#include "core/io/hdf5/seal.hpp"
#include "core/parallel/agree.hpp"
#include "core/train/optimizers/split.hpp"
#include "core/train/tables/tables.hpp"
#include "tests/catch.hpp"
#include "tests/shared_scratch.hpp"
#include "tests/train/tables/plain_tables.hpp"

using namespace cambium;
using namespace cambium::train;
using testing::MadeStep;
using testing::PlainTables;

namespace {

const std::vector<TableInfo> infos{{"a", 37, 5, 0.3}, {"b", 4, 3, 1.0}, {"c", 501, 8, 0.1}};

struct Ranks {
  Comm comm;
  Log log{nullptr, false};
  Timing timing;
  Context context{comm, log, timing};
  explicit Ranks(MPI_Comm of = MPI_COMM_WORLD) : comm(of) {}
  int slices() const { return MadeStep::slices / comm.size(); }
  int first() const { return comm.rank() * slices(); }
};

/// All rows of a table, on every rank.
template <class T>
std::vector<T> all_rows(Tables& tables, std::size_t table) {
  std::vector<Bags> bags(infos.size());
  for (std::int64_t r = 0; r < infos[table].rows; ++r) {
    const std::int32_t one[] = {static_cast<std::int32_t>(r)};
    for (std::size_t t = 0; t < infos.size(); ++t)
      bags[t].add(t == table ? std::span<const std::int32_t>(one) : std::span<const std::int32_t>());
  }
  tables.look_up(bags);
  const TensorRef rows = tables.looked_up().pooled(static_cast<int>(table));
  const T* begin = static_cast<const T*>(rows.data);
  return {begin, begin + rows.elements()};
}

template <class T>
std::vector<std::vector<T>> all_tables(Tables& tables) {
  std::vector<std::vector<T>> out;
  for (std::size_t t = 0; t < infos.size(); ++t) out.push_back(all_rows<T>(tables, t));
  return out;
}

/// One step of the divided tables; `seen` gets the sums of this rank's slices.
template <class T>
void step(Tables& tables, const MadeStep& made, const Ranks& ranks, double rate,
          const std::function<void(int, std::size_t, std::vector<T>)>& seen) {
  std::vector<std::vector<Bags>> slices;
  std::vector<std::int64_t> numbers;
  for (int s = ranks.first(); s < ranks.first() + ranks.slices(); ++s) {
    slices.emplace_back();
    for (int t = 0; t < std::ssize(infos); ++t) slices.back().push_back(made.bags(s, t));
    numbers.push_back(s);
  }
  tables.fetch(slices, numbers);
  for (int k = 0; k < ranks.slices(); ++k) {
    const int s = ranks.first() + k;
    if (made.samples(s) == 0) continue;
    TableRows& rows = tables.rows(k);
    for (int t = 0; t < std::ssize(infos); ++t) {
      const TensorRef sums = rows.pooled(t), gradient = rows.gradient(t);
      const T* begin = static_cast<const T*>(sums.data);
      seen(s, static_cast<std::size_t>(t), {begin, begin + sums.elements()});
      for (std::int64_t e = 0; e < gradient.elements(); ++e)
        static_cast<T*>(gradient.data)[e] += static_cast<T>(made.gradient(s, t, e));
    }
    rows.ready();
  }
  tables.send_back();
  tables.step(0.25, rate);
}

template <class T>
void compare(const TableKeys& keys, bool exactly) {
  Ranks ranks;
  const auto tables = make_tables(infos, keys, dtype_of<T>(), ranks.context);
  tables->start(5);
  PlainTables<T> plain(infos, keys, all_tables<T>(*tables));
  for (std::uint64_t n = 0; n < 4; ++n) {
    const MadeStep made{n, infos};
    step<T>(*tables, made, ranks, 0.1, [&](int s, std::size_t t, std::vector<T> sums) {
      const auto expected = plain.pooled(made.bags(s, static_cast<int>(t)), t);
      if (exactly)
        CHECK(sums == expected);
      else
        for (std::size_t k = 0; k < sums.size(); ++k) CHECK(sums[k] == Approx(expected[k]).margin(1e-6));
    });
    plain.step(made, 0.25, 0.1);
  }
  const auto found = all_tables<T>(*tables);
  for (std::size_t t = 0; t < infos.size(); ++t) {
    if (exactly)
      CHECK(found[t] == plain.rows[t]);
    else
      for (std::size_t k = 0; k < found[t].size(); ++k) CHECK(found[t][k] == Approx(plain.rows[t][k]).margin(1e-5));
  }
}

}  // namespace

TEST_CASE("divided tables give the bits of whole ones, on any number of ranks", "[ranks]") {
  for (const auto divide : {TableKeys::Divide::rows, TableKeys::Divide::whole})
    for (const auto rule : {TableKeys::Rule::sgd, TableKeys::Rule::adagrad, TableKeys::Rule::adam}) {
      TableKeys keys;
      keys.divide = divide;
      keys.optimizer = rule;
      keys.rate = 2.0;
      compare<double>(keys, true);
      compare<float>(keys, true);
      keys.deduplicate = true;
      compare<double>(keys, false);
    }
}

TEST_CASE("split rows are those of float32 bit for bit, and the network sees their upper halves", "[ranks]") {
  Ranks ranks;
  SharedScratch scratch(ranks.comm);
  TableKeys keys, split;
  keys.optimizer = TableKeys::Rule::sgd;
  split.optimizer = TableKeys::Rule::split_sgd;
  const auto whole = make_tables(infos, keys, DType::f32, ranks.context),
             halves = make_tables(infos, split, DType::f32, ranks.context);
  for (auto* tables : {whole.get(), halves.get()}) {
    tables->start(4);
    for (std::uint64_t n = 0; n < 5; ++n)
      step<float>(*tables, {n, infos}, ranks, 0.03, [](int, std::size_t, std::vector<float>) {});
  }
  {
    ServingRows serving(halves.get(), ranks.comm);
    io::on_root(ranks.comm, [&] {
      const ServingRows::Root root(serving);
      io::write_sealed_h5(scratch.file("split.h5"), [&](io::File& file) { halves->write(file, Tables::For::restart); });
    });
  }
  ranks.comm.barrier();
  const auto file = io::File::open(scratch.file("split.h5"));
  for (std::size_t t = 0; t < infos.size(); ++t) {
    const auto expected = all_rows<float>(*whole, t), seen = all_rows<float>(*halves, t);
    const auto low = file.read<std::vector<float>>("/rows/" + infos[t].name + "/states");
    REQUIRE(low.size() == expected.size());
    int different = 0;
    for (std::size_t k = 0; k < expected.size(); ++k) {
      different += seen[k] != high_half(expected[k]);
      different += std::bit_cast<std::uint32_t>(join(seen[k], static_cast<std::uint16_t>(low[k]))) !=
                   std::bit_cast<std::uint32_t>(expected[k]);
    }
    CHECK(different == 0);
  }
  const auto again = make_tables(infos, split, DType::f32, ranks.context);
  again->read(file, Tables::For::restart);
  for (auto* tables : {halves.get(), again.get()})
    step<float>(*tables, {9, infos}, ranks, 0.03, [](int, std::size_t, std::vector<float>) {});
  CHECK(all_tables<float>(*again) == all_tables<float>(*halves));
}

TEST_CASE("split rows are refused in float64") {
  Ranks alone(MPI_COMM_SELF);
  TableKeys keys;
  keys.optimizer = TableKeys::Rule::split_sgd;
  CHECK_THROWS_AS(make_tables(infos, keys, DType::f64, alone.context), InputError);
}

TEST_CASE("first rows do not depend on the number of ranks or on who holds them", "[ranks]") {
  Ranks ranks, alone(MPI_COMM_SELF);
  TableKeys keys, whole;
  whole.divide = TableKeys::Divide::whole;
  const auto a = make_tables(infos, keys, DType::f64, ranks.context),
             b = make_tables(infos, whole, DType::f64, ranks.context),
             c = make_tables(infos, keys, DType::f64, alone.context);
  for (auto* tables : {a.get(), b.get(), c.get()}) tables->start(3);
  const auto first = all_tables<double>(*a);
  CHECK(first == all_tables<double>(*b));
  CHECK(first == all_tables<double>(*c));
  for (std::size_t t = 0; t < infos.size(); ++t)
    for (const double x : first[t]) CHECK(std::abs(x) < infos[t].reach);
}

TEST_CASE("bytes are those of the rows and sums that others hold", "[ranks]") {
  Ranks ranks;
  for (const auto divide : {TableKeys::Divide::rows, TableKeys::Divide::whole}) {
    TableKeys keys;
    keys.divide = divide;
    const auto tables = make_tables(infos, keys, DType::f32, ranks.context);
    const MadeStep made{7, infos};
    step<float>(*tables, made, ranks, 0.1, [](int, std::size_t, std::vector<float>) {});
    std::int64_t asked = 0, given = 0;
    for (int s = 0; s < MadeStep::slices; ++s) {
      const int asks = s / ranks.slices(), me = ranks.comm.rank();
      for (int t = 0; t < std::ssize(infos); ++t) {
        const Bags bags = made.bags(s, t);
        const std::int64_t bytes = 4 * infos[t].width;
        const auto count = [&](int owner, std::int64_t sums) {
          if (asks == me && owner != me) asked += sums * bytes;
          if (asks != me && owner == me) given += sums * bytes;
        };
        if (divide == TableKeys::Divide::whole)
          count(tables->places().owner(t, 0), bags.size());
        else
          for (const auto row : bags.ids) count(tables->places().owner(t, row), 1);
      }
    }
    std::int64_t rows = 0, gradients = 0;
    for (const auto& row : tables->traffic().rows()) {
      if (row.collective == "rows") rows += row.bytes;
      if (row.collective == "row gradients") gradients += row.bytes;
    }
    CHECK(rows == given);
    CHECK(gradients == asked);
  }
}

TEST_CASE("a row goes to a rank once, its own to none, and the report counts the exchange both ways", "[ranks]") {
  Ranks ranks;
  TableKeys keys;
  keys.deduplicate = true;
  const auto tables = make_tables(infos, keys, DType::f32, ranks.context);
  const MadeStep made{7, infos};
  step<float>(*tables, made, ranks, 0.1, [](int, std::size_t, std::vector<float>) {});
  double once = 0.0, plain = 0.0, numbers = 0.0;
  for (std::size_t t = 0; t < infos.size(); ++t) {
    std::set<std::int64_t> wanted;
    for (int s = ranks.first(); s < ranks.first() + ranks.slices(); ++s)
      for (const auto row : made.bags(s, static_cast<int>(t)).ids)
        if (tables->places().owner(static_cast<int>(t), row) != ranks.comm.rank()) {
          wanted.insert(row);
          plain += 8.0 + 8.0 * static_cast<double>(infos[t].width);
        }
    once += 4.0 * static_cast<double>(infos[t].width) * static_cast<double>(wanted.size());
    numbers += 8.0 * static_cast<double>(wanted.size());
  }
  numbers += 8.0 * (1.0 + static_cast<double>(infos.size())) * (ranks.comm.size() - 1);  // slice, and counts by table
  double gradients = 0.0, indices = 0.0;
  for (const auto& row : tables->traffic().rows()) {
    if (row.collective == "row gradients") gradients += static_cast<double>(row.bytes);
    if (row.collective == "row indices") indices += static_cast<double>(row.bytes);
  }
  CHECK(gradients == once);
  CHECK(indices == numbers);
  const double all = ranks.comm.sum(plain), sent = ranks.comm.sum(2.0 * once + numbers);
  std::string said;
  for (const auto& line : tables->report())
    if (line.starts_with("exchange between ranks: ")) said = line;
  CHECK(said.empty() == (ranks.comm.size() == 1));
  if (said.empty()) return;
  CHECK(said.substr(said.rfind("ratio")) == fmt::format("ratio {:.2f}", all / sent));
}

TEST_CASE("by rows every rank holds its share to within a row", "[ranks]") {
  for (const int ranks : {1, 2, 3, 4, 8, 13}) {
    const TablePlaces places(infos, TableKeys::Divide::rows, ranks);
    std::int64_t all = 0;
    for (const auto& info : infos) all += info.rows;
    for (int rank = 0; rank < ranks; ++rank) {
      std::int64_t held = 0;
      for (int t = 0; t < std::ssize(infos); ++t) {
        held += places.held(t, rank);
        for (std::int64_t i = 0; i < places.held(t, rank); ++i) {
          const std::int64_t row = places.first(t, rank) + i * places.stride();
          REQUIRE(places.owner(t, row) == rank);
          REQUIRE(places.index(row) == i);
        }
      }
      CHECK(held >= all / ranks);
      CHECK(held <= (all + ranks - 1) / ranks);
    }
  }
}

TEST_CASE("whole tables go to the rank that has least", "[ranks]") {
  const std::vector<TableInfo> sizes{{"a", 10, 1, 0}, {"b", 90, 1, 0}, {"c", 60, 1, 0}, {"d", 40, 1, 0}};
  const TablePlaces places(sizes, TableKeys::Divide::whole, 2);
  CHECK(places.owner(1, 0) == 0);
  CHECK(places.owner(2, 5) == 1);
  CHECK(places.owner(3, 39) == 1);
  CHECK(places.owner(0, 0) == 0);
  CHECK(places.held(1, 0) == 90);
  CHECK(places.held(1, 1) == 0);
}

TEST_CASE("files of any number of ranks are read by any other, rows and states alike", "[ranks]") {
  Ranks ranks, alone(MPI_COMM_SELF);
  SharedScratch scratch(ranks.comm);
  TableKeys keys;
  keys.optimizer = TableKeys::Rule::adam;
  const auto tables = make_tables(infos, keys, DType::f32, ranks.context);
  tables->start(9);
  for (std::uint64_t n = 0; n < 2; ++n)
    step<float>(*tables, {n, infos}, ranks, 0.1, [](int, std::size_t, std::vector<float>) {});
  tables->keep_best();
  step<float>(*tables, {2, infos}, ranks, 0.1, [](int, std::size_t, std::vector<float>) {});
  {
    ServingRows serving(tables.get(), ranks.comm);
    io::on_root(ranks.comm, [&] {
      const ServingRows::Root root(serving);
      io::write_sealed_h5(scratch.file("rows.h5"),
                          [&](io::File& file) { tables->write(file, Tables::For::restart_with_best); });
    });
  }
  ranks.comm.barrier();
  const auto file = io::File::open(scratch.file("rows.h5"));
  const auto one = make_tables(infos, keys, DType::f32, alone.context);
  one->read(file, Tables::For::restart_with_best);
  TableKeys whole = keys;
  whole.divide = TableKeys::Divide::whole;
  const auto other = make_tables(infos, whole, DType::f32, ranks.context);
  other->read(file, Tables::For::restart_with_best);
  const auto rows = all_tables<float>(*tables);
  CHECK(all_tables<float>(*one) == rows);
  CHECK(all_tables<float>(*other) == rows);
  // States came along: one more step is the same.
  step<float>(*tables, {3, infos}, ranks, 0.1, [](int, std::size_t, std::vector<float>) {});
  step<float>(*other, {3, infos}, ranks, 0.1, [](int, std::size_t, std::vector<float>) {});
  CHECK(all_tables<float>(*other) == all_tables<float>(*tables));
  CHECK(file.exists("/rows/a/best"));
}

TEST_CASE("a root that fails lets the ranks go that serve it", "[ranks]") {
  Ranks ranks;
  const auto tables = make_tables(infos, {}, DType::f64, ranks.context);
  ServingRows serving(tables.get(), ranks.comm);
  CHECK_THROWS_AS(io::on_root(ranks.comm,
                              [&] {
                                const ServingRows::Root root(serving);
                                throw InputError("the disk is full");
                              }),
                  InputError);
}

TEST_CASE("a step whose rows no message can hold is refused") {
  Ranks alone(MPI_COMM_SELF);
  const auto tables = make_tables({{"wide", 2, 5'000'000, 0.1}}, {}, DType::f32, alone.context);
  Bags bags;
  bags.add(std::vector<std::int32_t>(500, 1));
  CHECK_THROWS_WITH(tables->look_up({bags}),
                    "tables: the rows of one step are more than 2147483647 values; lower batch");
}

TEST_CASE("tables of other sizes are refused") {
  Ranks alone(MPI_COMM_SELF);
  auto file = io::File::in_memory("small.h5");
  const std::vector<double> few(4, 0.0);
  file.write("/rows/a/weights", io::tensor_of(few.data(), {2, 2}));
  const auto tables = make_tables(infos, {}, DType::f64, alone.context);
  CHECK_THROWS_WITH(tables->read(file, Tables::For::model),
                    "'small.h5': table 'a' needs /rows/a/weights of shape [37, 5], but the file has [2, 2]; take the "
                    "network and tables that wrote it");
}
