#include <cmath>

#include "core/base/timing.hpp"
#include "tests/catch.hpp"
#include "tests/train/buffers.hpp"

using namespace cambium;
using namespace cambium::train;
using namespace cambium::train::testing;

TEST_CASE("tensors begin at multiples of what is asked for") {
  const auto parameters = some_parameters(9);
  std::vector<int> odd, even;
  for (int k = 0; k < 9; ++k) (k % 2 ? odd : even).push_back(k);
  for (const FlatLayout& layout :
       {FlatLayout(parameters, 300, 512, 128), FlatLayout(parameters, {odd, even}, 512, 128)}) {
    for (const auto& tensor : layout.tensors()) CHECK(tensor.offset % 128 == 0);
    for (const auto& group : layout.groups()) CHECK(group.elements() % 512 == 0);
  }
}

TEST_CASE("tensors keep their order, are aligned and form groups from the end") {
  const FlatLayout layout(some_parameters(40), 300, 128);
  std::int64_t end = 0, parameters = 0;
  for (const auto& tensor : layout.tensors()) {
    REQUIRE(tensor.offset % 16 == 0);
    REQUIRE(tensor.offset >= end);
    end = tensor.offset + tensor.elements;
    parameters += tensor.elements;
  }
  REQUIRE(layout.parameters() == parameters);
  REQUIRE(layout.size() >= end);
  REQUIRE(layout.groups().size() > 3);
  int last = 40;
  for (const auto& group : layout.groups()) {
    REQUIRE(group.last == last);
    last = group.first;
    REQUIRE(group.elements() % 128 == 0);
    std::int64_t sum = 0;
    for (int k = group.first; k < group.last; ++k) {
      REQUIRE(layout.tensors()[k].offset >= group.begin);
      REQUIRE(layout.tensors()[k].offset + layout.tensors()[k].elements <= group.end);
      REQUIRE(&layout.groups()[layout.tensors()[k].group] == &group);
      sum += layout.tensors()[k].elements;
    }
    REQUIRE((sum <= 300 || group.last - group.first == 1));
  }
  REQUIRE(last == 0);
}

TEST_CASE("views show the buffer's memory with the tensors' shapes") {
  const FlatLayout layout(some_parameters(9), 1000);
  FlatBuffer buffer(layout, DType::f32);
  fill(buffer, 3);
  const auto views = buffer.views();
  for (std::size_t k = 0; k < views.size(); ++k) {
    REQUIRE(views[k].data == buffer.values<float>(k).data());
    REQUIRE(reinterpret_cast<std::uintptr_t>(views[k].data) % 64 == 0);
    REQUIRE(views[k].contiguous());
    REQUIRE(views[k].elements() == layout.tensors()[k].elements);
  }
  FlatBuffer copy(layout, DType::f32);
  unpack<float>(packed<float>(buffer), copy);
  REQUIRE(packed<float>(copy) == packed<float>(buffer));
}

TEST_CASE("norms of all tensors in one pass are those of plain sums") {
  for (DType dtype : {DType::f64, DType::f32}) {
    auto parameters = some_parameters(30);
    parameters.push_back({"large", {123, 457}, true});
    const FlatLayout layout(parameters, 10000);
    FlatBuffer buffer(layout, dtype);
    fill(buffer, 5);
    const auto norms = squared_norms(buffer);
    with_real(dtype, [&]<class T>() {
      for (std::size_t k = 0; k < norms.size(); ++k) {
        long double sum = 0.0L;
        for (T value : buffer.values<T>(k)) sum += static_cast<long double>(value) * value;
        const double expected = static_cast<double>(std::sqrt(sum));
        REQUIRE(std::abs(std::sqrt(norms[k]) - expected) <= std::nextafter(expected, 1e300) - expected);
      }
    });
  }
}
