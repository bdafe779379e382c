//===- PairwiseGrad.cpp - Reference lowering of derivatives of pairs ------===//
//
// Part of kron, an MLIR-based compiler for Kronecker-structured linear algebra.
// SPDX-License-Identifier: MIT
//
//===----------------------------------------------------------------------===//
//
// Tiles of 64 columns, one after the other. With s for the reduced values (and
// their derivatives, where there are directions), the gradient by an element of
// A or B is a sum of
//
//   W[m, n] * d inner / dx,  W = G * d epilogue / ds
//
// and that by a hyper-parameter one of G times the derivative by it of all. Of
// s, G, W and the derivatives of s by a hyper-parameter those that are needed
// are arrays of batch x M x 64.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"
#include "PairTiles.h"
#include "kron/Dialect/Kron/Utils/Scalars.h"

using namespace mlir;
using namespace mlir::kron;

/// `values` in the elements of `destination`, of the same shape.
static Value emitStore(ArrayEmitter &emitter, Value values, Value destination) {
  Type element = kron::getElementType(destination);
  unsigned rank = cast<ShapedType>(destination.getType()).getRank();
  AffineMap identity = emitter.getBuilder().getMultiDimIdentityMap(rank);
  return emitter.emitGeneric(values, destination, {identity, identity},
                             /*reductions=*/0,
                             [&](OpBuilder &b, Location loc, ValueRange args) {
                               return emitConversion(b, loc, args[0], element);
                             });
}

Value kron::emitPairwiseTangent(ArrayEmitter &emitter, PairwiseTangentOp op) {
  PairTiles tiles(emitter, op);
  PairArray init = tiles.getLoops().getInit();
  unsigned columnDim = *init.getDim(PairAxis::N);
  unsigned matrix = tiles.add(), ofDirections = tiles.add();
  unsigned result = tiles.add(op.getInit());
  return tiles.emit([&] {
    PairArray tile = tiles.emitMatrix(matrix, ofDirections);
    Value part = tiles.getPart(result, columnDim);
    tiles.setPart(result, columnDim, emitStore(emitter, tile.value, part));
  })[result];
}

//===----------------------------------------------------------------------===//
// kron.pairwise_grad
//===----------------------------------------------------------------------===//

namespace {

class GradLowering {
public:
  GradLowering(ArrayEmitter &emitter, PairwiseGradOp op);

  Value emit();

private:
  bool isByParam() const { return by == PairOperand::Param; }
  bool isMaximum() const { return reduction == PairReduction::Max; }

  void addTiles();
  Value createResults();
  void emitReducedValues();
  void emitGradientTile();
  void emitWeight(unsigned number);
  void emitDerivative(unsigned number);
  void emitOperandTerms(unsigned results);
  void emitParamTerms(unsigned rows);

  SmallVector<PairArray> getGradient() const;
  SmallVector<PairArray> getReducedTiles() const;
  SmallVector<Value> getEpilogueArgs(OpBuilder &b, Location loc,
                                     ValueRange elements, ValueRange params);

  ArrayEmitter &emitter;
  PairwiseGradOp op;
  PairOperand by;
  PairReduction reduction;
  PairTiles tiles;
  const PairLoops &loops;
  const PairFunctions &functions;
  /// Which result of the functions is differentiated: the derivative along the
  /// directions, if there are those.
  unsigned result;
  /// Derivatives of `inner` by the operand, of `epilogue` by its reduced values
  /// and by the hyper-parameter.
  PairProgram ofInner;
  SmallVector<PairProgram> ofReduced;
  std::optional<PairProgram> ofParam;
  /// Reduced values whose terms are not 0.
  SmallVector<unsigned> active;

  /// Arrays: reduced values, the gradient, and for each active reduced value
  /// its weight or, by a hyper-parameter, its derivative.
  SmallVector<std::optional<unsigned>> reduced;
  std::optional<unsigned> gradient;
  SmallVector<std::optional<unsigned>> ofActive;
};

} // namespace

/// The argument of `inner` that `op` differentiates by.
static unsigned getInnerArg(PairwiseGradOp op) {
  switch (op.getBy()) {
  case PairOperand::Lhs:
    return 0;
  case PairOperand::Rhs:
    return 1;
  case PairOperand::Param:
    return 2 + *op.getParamIndex();
  }
  llvm_unreachable("all operands are handled");
}

GradLowering::GradLowering(ArrayEmitter &emitter, PairwiseGradOp op)
    : emitter(emitter), op(op), by(op.getBy()), reduction(op.getReduction()),
      tiles(emitter, op), loops(tiles.getLoops()),
      functions(tiles.getFunctions()), result(functions.numReduced - 1),
      ofInner(functions.inner.getDerivative(getInnerArg(op))) {
  for (unsigned number = 0; number < functions.numReduced; ++number) {
    ofReduced.push_back(
        functions.epilogue.getDerivative(functions.getReducedArg(number)));
    if (!ofReduced.back().isZero(result) && !ofInner.isZero(number))
      active.push_back(number);
  }
  if (isByParam())
    ofParam = functions.epilogue.getDerivative(1 + *op.getParamIndex());
}

/// Adds the arrays of columns that are needed.
void GradLowering::addTiles() {
  SmallVector<const PairProgram *> programs;
  for (unsigned number : active)
    programs.push_back(&ofReduced[number]);
  if (ofParam)
    programs.push_back(&*ofParam);
  reduced.resize(functions.numReduced);
  for (unsigned number = functions.numReduced; number-- > 0;) {
    bool isRead = llvm::any_of(programs, [&](const PairProgram *program) {
      return program->reads(result, functions.getReducedArg(number));
    });
    // Where a maximum is has to be known for all terms.
    if (isRead || (number == 0 && isMaximum()))
      reduced[number] = tiles.add();
  }
  if (op.getLhsFactor())
    gradient = tiles.add();
  for (unsigned number = 0; number < active.size(); ++number) {
    bool isGradient = !isByParam() && op.getEpilogue().empty();
    ofActive.push_back(isGradient ? std::optional<unsigned>() : tiles.add());
  }
}

/// An array of sums of the accumulation type, all 0: the destination itself if
/// it can be that; by a hyper-parameter, sums of rows.
Value GradLowering::createResults() {
  Type type = loops.getAccumulator();
  Value init = op.getInit();
  if (isByParam())
    return emitter.fillZeros(
        emitter.createOwn(loops.getSizes(PairAxis::M), type));
  if (kron::getElementType(init) == type)
    return emitter.fillZeros(init);
  SmallVector<OpFoldResult> sizes;
  for (unsigned dim = 0; dim < cast<ShapedType>(init.getType()).getRank();
       ++dim)
    sizes.push_back(emitter.getSize(init, dim));
  return emitter.fillZeros(emitter.createOwn(sizes, type));
}

void GradLowering::emitReducedValues() {
  if (reduced[0])
    tiles.emitReduced(*reduced[0]);
  if (functions.numReduced == 2 && reduced[1])
    tiles.emitReducedAlong(*reduced[1], reduced[0].value_or(0));
}

/// The gradient where it is a product of factors.
void GradLowering::emitGradientTile() {
  if (!gradient)
    return;
  const PairLoops &columns = tiles.getColumns();
  SmallVector<PairArray> inputs = {
      columns.getArray(op.getLhsFactor(), PairAxis::M, PairAxis::C),
      columns.getArray(op.getRhsFactor(), PairAxis::N, PairAxis::C)};
  tiles.clear(*gradient);
  tiles.update(*gradient, inputs, PairAxis::C,
               [&](OpBuilder &b, Location loc, ValueRange elements, ValueRange,
                   Value sum) {
                 Value term = emitMul(b, loc, elements[0], elements[1]);
                 return emitAdd(b, loc, sum, term);
               });
  if (Value grad = op.getGrad())
    tiles.update(
        *gradient, columns.getArray(grad, PairAxis::M, PairAxis::N),
        /*reductions=*/{},
        [&](OpBuilder &b, Location loc, ValueRange elements, ValueRange,
            Value product) { return emitMul(b, loc, elements[0], product); });
}

/// The gradient by the matrix, an array of M and N.
SmallVector<PairArray> GradLowering::getGradient() const {
  if (gradient)
    return {tiles.getTile(*gradient)};
  PairwiseGradOp grad = op;
  return {
      tiles.getColumns().getArray(grad.getGrad(), PairAxis::M, PairAxis::N)};
}

SmallVector<PairArray> GradLowering::getReducedTiles() const {
  SmallVector<PairArray> inputs;
  for (std::optional<unsigned> number : reduced)
    if (number)
      inputs.push_back(tiles.getTile(*number));
  return inputs;
}

/// Arguments of derivatives of `epilogue`, from the elements of
/// getReducedTiles: those that are not there are not read.
SmallVector<Value> GradLowering::getEpilogueArgs(OpBuilder &b, Location loc,
                                                 ValueRange elements,
                                                 ValueRange params) {
  SmallVector<Value> values;
  for (std::optional<unsigned> number : reduced) {
    values.push_back(number ? elements.front()
                            : emitZero(b, loc, loops.getAccumulator()));
    elements = elements.drop_front(number.has_value());
  }
  return functions.getEpilogueArgs(values, params);
}

/// G * d epilogue / ds of active reduced value `number`.
void GradLowering::emitWeight(unsigned number) {
  if (!ofActive[number])
    return;
  SmallVector<PairArray> inputs = getGradient();
  llvm::append_range(inputs, getReducedTiles());
  tiles.update(*ofActive[number], inputs, /*reductions=*/{},
               [&](OpBuilder &b, Location loc, ValueRange elements,
                   ValueRange params, Value) {
                 Value factor = ofReduced[active[number]].emit(
                     b, loc, result,
                     getEpilogueArgs(b, loc, elements.drop_front(), params));
                 return emitMul(b, loc, elements[0], factor);
               });
}

/// The derivative of active reduced value `number` by the hyper-parameter.
void GradLowering::emitDerivative(unsigned number) {
  tiles.clear(*ofActive[number]);
  tiles.update(
      *ofActive[number], tiles.getElements(reduced[0].value_or(0)), PairAxis::K,
      [&](OpBuilder &b, Location loc, ValueRange elements, ValueRange params,
          Value sum) {
        SmallVector<Value> args = functions.getInnerArgs(elements, params);
        Value term = ofInner.emit(b, loc, active[number], args);
        if (isMaximum())
          term = emitWhereMost(b, loc, functions.inner.emit(b, loc, 0, args),
                               elements.back(), term);
        return emitAdd(b, loc, sum, term);
      });
}

/// Adds the terms of the tile to the gradient by A or B, array `results`.
void GradLowering::emitOperandTerms(unsigned results) {
  const PairLoops &columns = tiles.getColumns();
  PairArray init = columns.getInit();
  std::optional<unsigned> columnDim = init.getDim(PairAxis::N);
  init.value = columnDim ? tiles.getPart(results, *columnDim)
                         : tiles.getCarried(results);
  SmallVector<PairArray> inputs = tiles.getElements(reduced[0].value_or(0));
  unsigned numElements = inputs.size();
  for (std::optional<unsigned> weight : ofActive)
    inputs.push_back(weight ? tiles.getTile(*weight) : getGradient().front());
  Value updated = columns.emit(
      inputs, init, columnDim ? PairAxis::M : PairAxis::N,
      /*readsParams=*/true,
      [&](OpBuilder &b, Location loc, ValueRange elements, ValueRange params,
          Value sum) {
        SmallVector<Value> args = functions.getInnerArgs(elements, params);
        Value term;
        for (auto [index, number] : llvm::enumerate(active)) {
          Value product = emitMul(b, loc, elements[numElements + index],
                                  ofInner.emit(b, loc, number, args));
          term = term ? emitAdd(b, loc, term, product) : product;
        }
        if (isMaximum())
          term = emitWhereMost(b, loc, functions.inner.emit(b, loc, 0, args),
                               elements[numElements - 1], term);
        return emitAdd(b, loc, sum, term);
      });
  if (columnDim)
    tiles.setPart(results, *columnDim, updated);
  else
    tiles.getCarried(results) = updated;
}

/// Adds the terms of the tile to the sums of rows, array `rows`.
void GradLowering::emitParamTerms(unsigned rows) {
  SmallVector<PairArray> inputs = getGradient();
  llvm::append_range(inputs, getReducedTiles());
  unsigned numValues = inputs.size();
  for (std::optional<unsigned> derivative : ofActive)
    inputs.push_back(tiles.getTile(*derivative));
  PairArray sums{"", tiles.getCarried(rows), {PairAxis::M}};
  tiles.getCarried(rows) = tiles.getColumns().emit(
      inputs, sums, PairAxis::N, /*readsParams=*/true,
      [&](OpBuilder &b, Location loc, ValueRange elements, ValueRange params,
          Value sum) {
        SmallVector<Value> args =
            getEpilogueArgs(b, loc, elements.slice(1, numValues - 1), params);
        Value change = ofParam->emit(b, loc, result, args);
        for (auto [index, number] : llvm::enumerate(active)) {
          Value factor = ofReduced[number].emit(b, loc, result, args);
          Value term = emitMul(b, loc, factor, elements[numValues + index]);
          change = emitAdd(b, loc, change, term);
        }
        return emitAdd(b, loc, sum, emitMul(b, loc, elements[0], change));
      });
}

Value GradLowering::emit() {
  addTiles();
  unsigned results = tiles.add(createResults());
  bool isZero = active.empty() && (!ofParam || ofParam->isZero(result));
  Value sums = tiles.getCarried(results);
  if (!isZero)
    sums = tiles.emit([&] {
      emitReducedValues();
      emitGradientTile();
      for (unsigned number = 0; number < active.size(); ++number)
        isByParam() ? emitDerivative(number) : emitWeight(number);
      isByParam() ? emitParamTerms(results) : emitOperandTerms(results);
    })[results];
  Value init = op.getInit();
  if (!isByParam())
    return kron::getElementType(init) == loops.getAccumulator()
               ? sums
               : emitStore(emitter, sums, init);
  PairArray total{"", emitter.fillZeros(init), {}};
  PairArray rows{"", sums, {PairAxis::M}};
  return loops.emit(
      rows, total, PairAxis::M,
      /*readsParams=*/false,
      [&](OpBuilder &b, Location loc, ValueRange elements, ValueRange,
          Value sum) { return emitAdd(b, loc, sum, elements[0]); });
}

Value kron::emitPairwiseGrad(ArrayEmitter &emitter, PairwiseGradOp op) {
  return GradLowering(emitter, op).emit();
}
