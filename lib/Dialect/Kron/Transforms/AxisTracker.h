//===- AxisTracker.h - Follow axes through reshapes -------------*- C++ -*-===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Symbolic execution of a chain of reshapes, transposes and contractions. The
// axes of the array that the chain starts from are cut into *atoms*, pieces
// that no step takes apart; every dimension of every intermediate is a product
// of atoms. A reshape that needs a finer piece splits an atom, everywhere it
// has occurred. A contraction removes atoms and puts new ones in their place.
//
// Two orders are kept apart: that of the data as the chain has it, and the
// *home order*, in which nothing has ever moved. A chain that ends with both
// equal is a chain of mode products.
//
//===----------------------------------------------------------------------===//

#ifndef KRON_LIB_DIALECT_KRON_TRANSFORMS_AXISTRACKER_H
#define KRON_LIB_DIALECT_KRON_TRANSFORMS_AXISTRACKER_H

#include "ShuffleChain.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

namespace mlir::kron {

/// Atoms by number, slowest first.
using AtomList = SmallVector<unsigned, 4>;

/// Dimensions of an array, each the product of its atoms. A dimension without
/// atoms has size 1.
using AtomDims = SmallVector<AtomList>;

struct Atom {
  /// Its size; kDynamic for a whole dynamic dimension of the source.
  int64_t size;
  /// The dimension of the source, for a dynamic atom.
  unsigned sourceDim;
  /// The edge at which the atom starts in the home order. What a contraction
  /// puts in place of atoms starts at the edge at which they started.
  unsigned edge;

  bool isDynamic() const { return ShapedType::isDynamic(size); }
};

/// Adjacent dimensions of a factor that play one role in a mode product.
struct FactorGroup {
  enum class Role { Contracted, Resulting, Shared };
  Role role;
  ReassociationIndices dims;
  /// For shared dimensions: the atoms of the array they go along with.
  AtomList shared;
};

/// A contraction as it acts on the home order.
struct TrackedProduct {
  Value factor;
  /// At most one contracted and one resulting group; no resulting one for a
  /// factor that is a vector.
  SmallVector<FactorGroup> groups;
  AtomList contracted;
  AtomList resulting;
};

class AxisTracker {
public:
  /// Starts at `source`. Every step fails if its shape is not supported.
  explicit AxisTracker(Value source);

  /// Follows one step of the chain. After a failure, which means that the
  /// chain is not one of mode products, the tracker is of no more use.
  LogicalResult apply(const ChainStep &step);

  /// True if all atoms are where they would be had nothing been moved.
  bool isHome() const;

  /// Number of distinct places of the home order that have been contracted.
  unsigned getNumContractedPlaces() const;

  /// What the dimensions of the array are after `step` steps (0: the source).
  const AtomDims &getLayout(size_t step) const { return layouts[step]; }
  /// The home order before product `index`, or at the end.
  const AtomList &getHomeOrder(size_t index) const { return homes[index]; }
  ArrayRef<TrackedProduct> getProducts() const { return products; }
  const Atom &getAtom(unsigned atom) const { return atoms[atom]; }
  Value getSource() const { return values.front(); }

  /// Size of a dimension made of `list`, or kDynamic.
  int64_t getStaticSize(ArrayRef<unsigned> list) const;

private:
  unsigned addAtom(int64_t size, unsigned edge, unsigned sourceDim = 0);
  /// Splits `atom`, which keeps the slower part of size `slowSize`, and returns
  /// the faster part.
  unsigned split(unsigned atom, int64_t slowSize);
  /// Takes atoms off one end of `flat` that make up a dimension of `size`.
  FailureOr<AtomList> takeFront(AtomList &flat, int64_t size);
  FailureOr<AtomList> takeBack(AtomList &flat, int64_t size);
  /// Shares out `flat` to dimensions of sizes `sizes`, whose types give
  /// `shape`.
  FailureOr<AtomDims> distribute(AtomList flat, ArrayRef<int64_t> shape,
                                 ArrayRef<OpFoldResult> sizes);
  /// The dynamic atom whose size `size` is known to be.
  std::optional<unsigned> findAtomOfSize(OpFoldResult size) const;

  FailureOr<AtomDims> applyReshape(Operation *op);
  FailureOr<AtomDims> applyContraction(const ChainStep &step);
  /// Finds the role of every dimension of the factor. Returns the loops of its
  /// resulting dimensions through `resultingLoops`.
  LogicalResult matchFactor(const FactorAccess &factor,
                            ArrayRef<unsigned> dataLoops,
                            ArrayRef<unsigned> resultLoops,
                            TrackedProduct &product,
                            SmallVectorImpl<unsigned> &resultingLoops);
  /// The stretch of the home order that holds `list` and, but for atoms of size
  /// 1, nothing else.
  FailureOr<AtomList> findHomeStretch(ArrayRef<unsigned> list) const;

  bool supported = true;
  unsigned numEdges = 0;
  SmallVector<Atom> atoms;
  /// The source and the results of the steps, and their dimensions.
  SmallVector<Value> values;
  SmallVector<AtomDims> layouts;
  /// The home order before each product and at the end.
  SmallVector<AtomList> homes;
  SmallVector<TrackedProduct> products;
};

} // namespace mlir::kron

#endif // KRON_LIB_DIALECT_KRON_TRANSFORMS_AXISTRACKER_H
