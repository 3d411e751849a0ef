#pragma once

namespace cambium::train {

/// Interface of a data set that may present a different part to each network of `models`; in addition to Dataset.
class VariesByMember {
 public:
  virtual ~VariesByMember() = default;
  /// Before open(), on every rank: index of the network, from 0.
  virtual void take_member(int member) = 0;
};

}  // namespace cambium::train
