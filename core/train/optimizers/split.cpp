#include "core/train/optimizers/split.hpp"

#include <fmt/format.h>

#include "core/base/key_error.hpp"

namespace cambium::train {

void split_weights(FlatBuffer& weights, FlatBuffer& low) {
  const auto values = weights.values<float>();
  const auto bits = low.values<std::uint16_t>();
  for (std::size_t k = 0; k < values.size(); ++k) {
    bits[k] = low_half(values[k]);
    values[k] = high_half(values[k]);
  }
}

void require_float32(std::string_view optimizer, DType weights) {
  if (weights != DType::f32)
    throw KeyError("optimizer.split.precision", "",
                   fmt::format("optimizer {} splits float32 weights, but the model trains in float64; set the model's "
                               "precision to float32",
                               optimizer));
}

const Citation split_citation{"kalamkar2020dlrm", R"(@inproceedings{kalamkar2020dlrm,
  author = {Kalamkar, Dhiraj and Georganas, Evangelos and Srinivasan, Sudarshan and Chen, Jianping and Shiryaev, Mikhail and Heinecke, Alexander},
  title = {Optimizing Deep Learning Recommender Systems Training on {CPU} Cluster Architectures},
  booktitle = {SC20: International Conference for High Performance Computing, Networking, Storage and Analysis},
  year = {2020}
})"};

}  // namespace cambium::train
