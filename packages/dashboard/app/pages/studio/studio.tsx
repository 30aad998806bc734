export default function Studio() {
  return <h1>Image studio</h1>;
}
