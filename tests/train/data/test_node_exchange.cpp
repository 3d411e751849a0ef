#include <algorithm>
#include <cstring>

#include "core/train/data/node_exchange.hpp"
#include "core/train/data/packed_sample.hpp"
#include "tests/catch.hpp"
#include "tests/scratch.hpp"
#include "tests/train/data/sample_shards.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

const std::vector<FieldInfo> fields{{"x", "", {3}}, {"label", "", {}, DType::i32}};

/// Values 10 id + 0, 1, 2 and the label id.
SamplePtr sample_of(std::int64_t id) {
  struct Memory {
    double x[3];
    std::int32_t label;
  };
  const double first = 10.0 * static_cast<double>(id);
  auto memory = std::make_shared<Memory>(Memory{{first, first + 1, first + 2}, static_cast<std::int32_t>(id)});
  auto sample = std::make_shared<Sample>();
  sample->id = id;
  TensorRef x, label;
  x.data = memory->x;
  x.dtype = DType::f64;
  x.rank = 1;
  x.shape[0] = 3;
  x.stride[0] = 1;
  label.data = &memory->label;
  label.dtype = DType::i32;
  sample->fields.emplace("x", x);
  sample->fields.emplace("label", label);
  sample->storage = memory;
  return sample;
}

bool never() { return false; }

}  // namespace

TEST_CASE("ranks of a node lend each other samples, in as many rounds as they need") {
  World world;
  const auto& comm = world.comm;
  for (const std::int64_t places : {1, 2, 50}) {
    const auto exchange = NodeExchange::make(comm, fields, places);
    REQUIRE(exchange);
    bool good = true;
    for (std::int64_t step = 0; step < 200; ++step) {
      // Rank r lends r + 1 samples, numbered from 1000 r + step; every rank takes all of them.
      std::vector<NodeExchange::Loan> lent;
      for (int k = 0; k <= comm.rank(); ++k)
        lent.push_back({1000 * comm.rank() + step + k, sample_of(1000 * comm.rank() + step + k)});
      std::vector<NodeExchange::Wanted> wanted;
      for (int rank = comm.size() - 1; rank >= 0; --rank)
        for (int k = 0; k <= rank && rank != comm.rank(); ++k) wanted.push_back({1000 * rank + step + k, rank});
      const auto found = exchange->exchange(lent, wanted, comm.size(), never);
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        const auto id = wanted[k].key;
        good = good && found[k]->id == id && x_of(*found[k], 2) == 10.0 * static_cast<double>(id) + 2 &&
               *static_cast<const std::int32_t*>(found[k]->fields.at("label").data) == id;
      }
    }
    CHECK(good);
    comm.barrier();
  }
}

TEST_CASE("samples of different shapes are lent in packed form") {
  World world;
  const auto& comm = world.comm;
  const auto lines_of = [](std::int64_t id) {  // 1 + id % 5 rows of three, and for even ids a name
    struct Memory {
      std::vector<double> x;
      std::string name;
    };
    auto memory = std::make_shared<Memory>();
    for (std::int64_t k = 0; k < 3 * (1 + id % 5); ++k) memory->x.push_back(100.0 * static_cast<double>(id + k));
    memory->name = "sample";
    auto sample = std::make_shared<Sample>();
    sample->id = id;
    TensorRef x, name;
    x.data = memory->x.data();
    x.rank = 2;
    x.shape[0] = 1 + id % 5;
    x.shape[1] = 3;
    x.stride[0] = 3;
    x.stride[1] = 1;
    name.data = memory->name.data();
    name.dtype = DType::u8;
    name.rank = 1;
    name.shape[0] = 6;
    name.stride[0] = 1;
    sample->fields.emplace("x", x);
    if (id % 2 == 0) sample->fields.emplace("name of the sample", name);
    sample->bytes = x.elements() * 8;
    sample->storage = memory;
    return sample;
  };
  std::int64_t most = 0;
  for (std::int64_t id = 0; id < 10; ++id) most = std::max(most, packed_bytes(*lines_of(id)));
  const auto exchange = NodeExchange::make(comm, {}, 2, most);
  REQUIRE(exchange);
  bool good = true;
  for (std::int64_t step = 0; step < 50; ++step) {
    std::vector<NodeExchange::Loan> lent;
    for (std::int64_t k = 0; k < 3; ++k) {
      const std::int64_t id = 1000 * comm.rank() + step + k;
      lent.push_back({id, lines_of(id)});
    }
    std::vector<NodeExchange::Wanted> wanted;
    for (int rank = 0; rank < comm.size(); ++rank)
      for (std::int64_t k = 0; k < 3 && rank != comm.rank(); ++k) wanted.push_back({1000 * rank + step + k, rank});
    const auto found = exchange->exchange(lent, wanted, 3, never);
    for (std::size_t k = 0; k < wanted.size(); ++k) {
      const auto expected = lines_of(wanted[k].key);
      good = good && found[k]->id == expected->id && found[k]->bytes == expected->bytes &&
             found[k]->fields.size() == expected->fields.size();
      for (const auto& [name, a] : expected->fields) {
        const auto other = found[k]->fields.find(name);
        good = good && other != found[k]->fields.end() && other->second.rank == a.rank &&
               other->second.dtype == a.dtype && other->second.shape[0] == a.shape[0] && other->second.contiguous() &&
               std::memcmp(other->second.data, a.data, static_cast<std::size_t>(a.elements() * size_of(a.dtype))) == 0;
      }
    }
  }
  CHECK(good);
  std::vector<std::byte> room(static_cast<std::size_t>(most));
  CHECK_THROWS_AS(pack_sample(*lines_of(4), room.data(), 64), InternalError);
  comm.barrier();
}

TEST_CASE("an exchange ends where another rank failed, and where it is stopped") {
  World world;
  const auto& comm = world.comm;
  if (comm.size() == 1) return;
  for (const char* text :
       {"another rank of this node has left the training", "another rank of this node failed while it read samples"}) {
    const auto exchange = NodeExchange::make(comm, fields, 2);
    REQUIRE(exchange);
    const int last = comm.size() - 1;
    if (comm.rank() == last) {
      exchange->fail(text);
    } else {
      CHECK(message([&] { exchange->exchange({}, {{5, last}}, 1, never); }) == text);
    }
    comm.barrier();
  }
  const auto exchange = NodeExchange::make(comm, fields, 2);
  int turns = 0;
  if (comm.rank() == 0)
    CHECK_THROWS_AS(exchange->exchange({}, {{5, 1}}, 1, [&] { return ++turns > 10; }), InternalError);
  comm.barrier();
}
