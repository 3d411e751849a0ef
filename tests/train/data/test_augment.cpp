#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <set>

#include "core/base/key_error.hpp"
#include "core/deck/node.hpp"
#include "core/deck/read.hpp"
#include "core/train/data/augment.hpp"
#include "tests/catch.hpp"

using namespace cambium;
using namespace cambium::train;

namespace {

constexpr std::int64_t n = 4, m = 3;

/// image (2, n, n) float32, labels (n, n) bytes, wide (n, m) float64, u and w (n, n) float64, count (2) integers.
struct Images {
  std::vector<float> image = std::vector<float>(2 * n * n);
  std::vector<std::uint8_t> labels = std::vector<std::uint8_t>(n * n);
  std::vector<double> wide = std::vector<double>(n * m), u = std::vector<double>(n * n), w = u;
  std::vector<std::int64_t> count{3, 4};

  Images() {
    std::iota(image.begin(), image.end(), 1.0f);
    std::iota(labels.begin(), labels.end(), std::uint8_t{1});
    std::iota(wide.begin(), wide.end(), 1.0);
    std::iota(u.begin(), u.end(), 100.0);
    std::iota(w.begin(), w.end(), 200.0);
  }
  static std::vector<FieldInfo> fields() {
    return {{"image", "", {2, n, n}, DType::f32}, {"labels", "", {n, n}, DType::u8}, {"wide", "", {n, m}, DType::f64},
            {"u", "", {n, n}, DType::f64},        {"w", "", {n, n}, DType::f64},     {"count", "", {2}, DType::i64},
            {"atoms", "", {-1, 3}, DType::f64}};
  }
  template <class T>
  static TensorRef view(std::vector<T>& values, std::vector<std::int64_t> shape) {
    TensorRef out;
    out.data = values.data();
    out.rank = static_cast<int>(shape.size());
    out.dtype = dtype_of<T>();
    std::int64_t stride = 1;
    for (int k = out.rank - 1; k >= 0; --k) {
      out.shape[k] = shape[static_cast<std::size_t>(k)];
      out.stride[k] = stride;
      stride *= out.shape[k];
    }
    return out;
  }
  SamplePtr sample(std::int64_t id) {
    auto out = std::make_shared<Sample>();
    out->id = id;
    out->fields["image"] = view(image, {2, n, n});
    out->fields["labels"] = view(labels, {n, n});
    out->fields["wide"] = view(wide, {n, m});
    out->fields["u"] = view(u, {n, n});
    out->fields["w"] = view(w, {n, n});
    out->fields["count"] = view(count, {2});
    return out;
  }
};

struct ListOf {
  std::vector<AugmentKeys> list;
  static void describe(deck::Describe<ListOf>& d) { d("list", &ListOf::list, "entries"); }
};

Augment made(const std::string& entries, std::uint64_t seed = 1) {
  return {deck::read<ListOf>(deck::parse("list: [" + entries + "]", "test")).list, Images::fields(), seed};
}

std::string refusal(const std::string& entries) {
  try {
    made(entries);
  } catch (const std::exception& error) {
    return error.what();
  }
  return "none";
}

template <class T>
T at(const Sample& sample, const std::string& field, std::vector<std::int64_t> index) {
  const TensorRef& t = sample.fields.at(field);
  std::int64_t offset = 0;
  for (std::size_t k = 0; k < index.size(); ++k) offset += index[k] * t.stride[k];
  return static_cast<const T*>(t.data)[offset];
}

/// Every sample is one of the transformations, by name; each of them occurs.
void require_all(const Augment& augment, const std::vector<std::function<bool(const Sample&)>>& cases) {
  Images images;
  std::vector<int> found(cases.size());
  for (std::int64_t id = 0; id < 40; ++id) {
    const auto out = augment.apply(images.sample(id), 7);
    int fitting = 0;
    for (std::size_t k = 0; k < cases.size(); ++k)
      if (cases[k](*out)) ++found[k], ++fitting;
    CHECK(fitting == 1);
  }
  for (const int times : found) CHECK(times > 0);
}

/// True if out(i, j) of image and labels is the original at source(i, j).
std::function<bool(const Sample&)> is_moved(
    const std::function<std::pair<std::int64_t, std::int64_t>(std::int64_t, std::int64_t)>& source) {
  return [source](const Sample& out) {
    Images images;
    const auto original = images.sample(0);
    bool same = true;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const auto [p, q] = source(i, j);
        same = same && at<std::uint8_t>(out, "labels", {i, j}) == at<std::uint8_t>(*original, "labels", {p, q});
        for (std::int64_t c = 0; c < 2; ++c)
          same = same && at<float>(out, "image", {c, i, j}) == at<float>(*original, "image", {c, p, q});
      }
    return same;
  };
}

}  // namespace

TEST_CASE("flips reverse axes, each with its own chance, images and labels alike") {
  require_all(made("{type: flip, fields: [image, labels], axes: [-2, -1]}"),
              {is_moved([](auto i, auto j) { return std::pair(i, j); }),
               is_moved([](auto i, auto j) { return std::pair(n - 1 - i, j); }),
               is_moved([](auto i, auto j) { return std::pair(i, n - 1 - j); }),
               is_moved([](auto i, auto j) { return std::pair(n - 1 - i, n - 1 - j); })});
  require_all(made("{type: flip, fields: [image, labels], axes: [-1], probability: 1}"),
              {is_moved([](auto i, auto j) { return std::pair(i, n - 1 - j); })});
}

TEST_CASE("quarter turns are those of numpy.rot90") {
  require_all(made("{type: rotate90, fields: [image, labels], axes: [-2, -1]}"),
              {is_moved([](auto i, auto j) { return std::pair(i, j); }),
               is_moved([](auto i, auto j) { return std::pair(j, n - 1 - i); }),
               is_moved([](auto i, auto j) { return std::pair(n - 1 - i, n - 1 - j); }),
               is_moved([](auto i, auto j) { return std::pair(n - 1 - j, i); })});
}

TEST_CASE("cyclic shifts") {
  std::vector<std::function<bool(const Sample&)>> cases;
  for (std::int64_t shift = 0; shift < n; ++shift)
    cases.push_back(is_moved([shift](auto i, auto j) { return std::pair(i, (j + shift) % n); }));
  require_all(made("{type: roll, fields: [image, labels], axes: [-1]}"), cases);
}

TEST_CASE("arrays of two resolutions stay aligned when they are shifted") {
  std::vector<double> fine(8), coarse(4);
  for (int k = 0; k < 8; ++k) fine[static_cast<std::size_t>(k)] = k * k;
  for (int k = 0; k < 4; ++k)
    coarse[static_cast<std::size_t>(k)] =
        0.5 * (fine[static_cast<std::size_t>(2 * k)] + fine[static_cast<std::size_t>(2 * k + 1)]);
  const auto keys =
      deck::read<ListOf>(deck::parse("list: [{type: roll, fields: [coarse, fine], axes: [0]}]", "test")).list;
  const Augment augment(keys, std::vector<FieldInfo>{{"fine", "", {8}, DType::f64}, {"coarse", "", {4}, DType::f64}},
                        1);
  std::set<double> firsts;
  for (std::int64_t id = 0; id < 40; ++id) {
    auto sample = std::make_shared<Sample>();
    sample->id = id;
    sample->fields["fine"] = Images::view(fine, {8});
    sample->fields["coarse"] = Images::view(coarse, {4});
    const auto out = augment.apply(sample, 0);
    for (std::int64_t k = 0; k < 4; ++k)
      CHECK(at<double>(*out, "coarse", {k}) ==
            0.5 * (at<double>(*out, "fine", {2 * k}) + at<double>(*out, "fine", {2 * k + 1})));
    firsts.insert(at<double>(*out, "coarse", {0}));
  }
  CHECK(firsts.size() == 4);
}

TEST_CASE("each transformation happens with its probability") {
  Images images;
  for (const char* entry : {"type: roll, fields: [u], axes: [0, 1]", "type: rotate90, fields: [u], axes: [0, 1]",
                            "type: noise, fields: [u], standard_deviation: 1",
                            "type: scale, fields: [u], range: [2, 3]", "type: flip, fields: [u], axes: [0]"}) {
    INFO(entry);
    int changed = 0;
    constexpr int samples = 1000;
    const auto some = made("{" + std::string(entry) + ", probability: 0.3}"),
               never = made("{" + std::string(entry) + ", probability: 0}");
    for (int id = 0; id < samples; ++id) {
      bool moved = false, still = true;
      const auto out = some.apply(images.sample(id), 1), same = never.apply(images.sample(id), 1);
      for (std::int64_t k = 0; k < n * n; ++k) {
        moved = moved || at<double>(*out, "u", {k / n, k % n}) != images.u[static_cast<std::size_t>(k)];
        still = still && at<double>(*same, "u", {k / n, k % n}) == images.u[static_cast<std::size_t>(k)];
      }
      changed += moved;
      CHECK(still);
    }
    // Of the applied turns a quarter, of the shifts a sixteenth changes nothing.
    CHECK(changed > 0.3 * samples * 0.75 - 45);
    CHECK(changed < 0.3 * samples + 45);
  }
}

TEST_CASE("a vector field turns with its positions: the flux through a rotated edge stays") {
  Images images;
  const auto sample = images.sample(3);
  // The field of a rotation about the centre is unchanged by quarter turns, and changes sign by a flip of one axis.
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      images.u[static_cast<std::size_t>(i * n + j)] = -(static_cast<double>(j) - 1.5);
      images.w[static_cast<std::size_t>(i * n + j)] = static_cast<double>(i) - 1.5;
    }
  const auto turned = made("{type: rotate90, fields: [u, w], axes: [0, 1], vectors: [[u, w]]}");
  for (std::int64_t id = 0; id < 8; ++id) {
    auto copy = std::make_shared<Sample>(*sample);
    copy->id = id;
    const auto out = turned.apply(copy, 0);
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        CHECK(at<double>(*out, "u", {i, j}) == -(static_cast<double>(j) - 1.5));
        CHECK(at<double>(*out, "w", {i, j}) == static_cast<double>(i) - 1.5);
      }
  }
  const auto flipped = made("{type: flip, fields: [u, w], axes: [0], probability: 1, vectors: [[u]]}");
  const auto out = flipped.apply(sample, 0);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      CHECK(at<double>(*out, "u", {i, j}) == static_cast<double>(j) - 1.5);
      CHECK(at<double>(*out, "w", {i, j}) == -(static_cast<double>(i) - 1.5));
    }
}

TEST_CASE("parts of an array are components of a vector") {
  Images images;
  const auto sample = images.sample(0);
  const auto check = [&](const std::string& part, std::int64_t channel) {
    const auto augment =
        made("{type: flip, fields: [image], axes: [2], probability: 1, vectors: [[\"" + part + "\"]]}");
    const auto out = augment.apply(sample, 0);
    for (std::int64_t c = 0; c < 2; ++c)
      for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          CHECK(at<float>(*out, "image", {c, i, j}) ==
                (c == channel ? -1.0f : 1.0f) * at<float>(*sample, "image", {c, i, n - 1 - j}));
  };
  check("image[1]", 1);
  check("image[-1]", 1);
  check("image[0, :]", 0);
  check("image[..., 1, :, :]", 1);
}

TEST_CASE("noise and factors have their distributions, and leave the data set alone") {
  Images images;
  const auto noise = made("{type: noise, fields: [u], standard_deviation: 0.5}");
  double sum = 0.0, squares = 0.0;
  std::set<double> values;
  constexpr int samples = 2000;
  for (int id = 0; id < samples; ++id) {
    const auto out = noise.apply(images.sample(id), 3);
    for (std::int64_t k = 0; k < n * n; ++k) {
      const double one = at<double>(*out, "u", {k / n, k % n}) - images.u[static_cast<std::size_t>(k)];
      sum += one;
      squares += one * one;
      values.insert(one);
    }
  }
  const double count = samples * n * n;
  CHECK(std::fabs(sum / count) < 4.0 * 0.5 / std::sqrt(count));
  CHECK(std::sqrt(squares / count) == Approx(0.5).epsilon(0.02));
  CHECK(values.size() > 0.999 * count);
  CHECK(images.u == Images().u);

  const auto scale = made("{type: scale, fields: [u, w], range: [0.5, 1.5]}");
  double least = 2.0, most = 0.0;
  for (int id = 0; id < 200; ++id) {
    const auto out = scale.apply(images.sample(id), 3);
    const double factor = at<double>(*out, "u", {0, 0}) / images.u[0];
    CHECK(at<double>(*out, "w", {2, 1}) == Approx(factor * images.w[2 * n + 1]));
    least = std::min(least, factor);
    most = std::max(most, factor);
  }
  CHECK((least > 0.5 && least < 0.53 && most < 1.5 && most > 1.47));
}

TEST_CASE("the random numbers follow from seed, step and sample alone") {
  Images images;
  const std::string entries =
      "{type: noise, fields: [u], standard_deviation: 1}, {type: noise, fields: [u, w], "
      "standard_deviation: 1}";
  const auto value = [&](std::uint64_t seed, std::int64_t id, std::int64_t step, const char* field) {
    return at<double>(*made(entries, seed).apply(images.sample(id), step), field, {1, 2});
  };
  CHECK(value(1, 5, 7, "u") == value(1, 5, 7, "u"));
  const double one = value(1, 5, 7, "w");
  for (const double other : {value(2, 5, 7, "w"), value(1, 6, 7, "w"), value(1, 5, 8, "w")}) CHECK(other != one);
  // Two entries, two fields: other numbers.
  CHECK(value(1, 5, 7, "u") - images.u[n + 2] != Approx(one - images.w[n + 2]));
  const auto once = made("{type: noise, fields: [u], standard_deviation: 1}").apply(images.sample(5), 7);
  CHECK(value(1, 5, 7, "u") - images.u[n + 2] != Approx(2.0 * (at<double>(*once, "u", {1, 2}) - images.u[n + 2])));
}

TEST_CASE("samples with strides, and fields that nobody named") {
  Images images;
  auto sample = std::make_shared<Sample>(*images.sample(0));
  TensorRef& wide = sample->fields["wide"];  // transposed: (m, n)
  std::swap(wide.shape[0], wide.shape[1]);
  std::swap(wide.stride[0], wide.stride[1]);
  const Augment augment(
      deck::read<ListOf>(deck::parse("list: [{type: flip, fields: [wide], axes: [0], probability: 1}]", "test")).list,
      std::vector<FieldInfo>{{"wide", "", {m, n}, DType::f64}}, 1);
  const auto out = augment.apply(sample, 0);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j)
      CHECK(at<double>(*out, "wide", {i, j}) == images.wide[static_cast<std::size_t>(j * m + m - 1 - i)]);
  CHECK(out->fields.at("u").data == sample->fields.at("u").data);
}

TEST_CASE("what cannot be transformed is refused") {
  const auto given = [](const std::string& entry, const std::string& problem) {
    INFO(entry);
    CHECK_THAT(refusal("{" + entry + "}"), Catch::Contains(problem));
  };
  CHECK(refusal("{type: flip, fields: [image], axes: [0, 1]}") == "none");
  try {
    made("{type: flip, fields: [image], axes: [0]}, {type: flip, fields: [wide], axes: [2]}");
    CHECK(false);
  } catch (const KeyError& error) {
    CHECK(error.key() == "augment[1].axes");
    CHECK(error.id() == "train.augment.axis");
  }
  given("type: flip, fields: [picture], axes: [0]",
        "augment: the samples have no field 'picture'; they have image, labels");
  given("type: flip, fields: [wide], axes: [2]",
        "augment: there is no axis 2 in 'wide', whose samples have the shape [4, 3]; count axes from 0, without the "
        "axis of samples");
  given("type: flip, fields: [wide], axes: [-3]", "augment: there is no axis -3 in 'wide'");
  given("type: flip, fields: [atoms], axes: [0]",
        "augment: 'atoms' differs in size from sample to sample; name other fields");
  given("type: rotate90, fields: [wide], axes: [0, 1]",
        "augment: rotate90 needs two axes of equal length, but axes 0 and 1 of 'wide' have 4 and 3; use flip");
  given("type: rotate90, fields: [image], axes: [1]", "rotate90 turns a plane: it needs two axes, not 1");
  given("type: noise, fields: [labels], standard_deviation: 1",
        "augment: noise changes values, but 'labels' holds integers; convert it to floating-point values, or name "
        "other fields");
  given("type: noise, fields: [u]", "noise needs 'standard_deviation'");
  given("type: scale, fields: [u]", "scale needs 'range'");
  given("type: scale, fields: [u], range: [2, 1]", "range needs two numbers, the smaller one first");
  given("type: roll, fields: [u]", "roll needs 'axes'");
  given("type: roll, fields: [u], axes: [0, 0, 0, 0, 0, 0, 0]", "axes has more than 6 entries");
  given("type: noise, fields: [u], axes: [0], standard_deviation: 1", "noise has no 'axes'; remove it");
  given("type: roll, fields: [u], axes: [0], vectors: [[u]]", "roll has no 'vectors'; remove it");
  given("type: flip, fields: [u], axes: [0], vectors: [[u, w]]",
        "each of 'vectors' needs one component for each of the 1 axes, not 2");
  given("type: flip, fields: [u], axes: [0], vectors: [[w]]",
        "augment: 'w' is part of a vector, but not in 'fields'; add it there");
  given("type: flip, fields: [labels], axes: [0], vectors: [[labels]]",
        "augment: 'labels' holds integers, which are no components of a vector");
  given("type: flip, fields: [image], axes: [1], vectors: [[\"image[2]\"]]",
        "augment: there is no 'image[2]': samples of 'image' have the shape [2, 4, 4]");
  given("type: flip, fields: [image], axes: [1], vectors: [[\"image[x]\"]]",
        "augment: 'image[x]' names no component; write an array (u) or a part of one (velocity[0], frames[:,2])");
  given("type: flip, fields: [image], axes: [1], vectors: [[\"image[:,1]\"]]",
        "augment: 'image[:,1]' selects an index along axis 1, which 'axes' transforms; components count along another "
        "axis");
  given("type: rotate90, fields: [u, image], axes: [-2, -1], vectors: [[u, \"image[0]\"]]",
        "augment: 'u' and 'image[0]' differ in type or size; the components of a vector are equal arrays");
  given("type: flip, fields: [u, w, u], axes: [0]", "augment: 'u' is listed twice in one entry; list it once");
  given("type: flip, fields: [u], axes: [0, -2]", "augment: axes [0, -2] of 'u' name an axis twice");
  given("type: flip, fields: [u], axes: [0], vectors: [[u], [u]]", "'u' is listed twice in one entry; list it once");
  given("type: roll, fields: [u, wide], axes: [1]",
        "augment: roll shifts 'u' with an array of 3 cells along axis 1, but it has 4, which is no multiple; give them "
        "entries "
        "of their own");
  given("type: flip, fields: [image], axes: [1], vectors: [[\"image[-3]\"]]", "augment: there is no 'image[-3]'");
  given("type: flip, fields: [], axes: [0]", "fields is empty; name the arrays to transform");
}
