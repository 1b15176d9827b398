/** What index.html shows before the app is loaded, for as long as it is not known who is signed in. */
import { Waiting } from "../ui/Waiting.tsx";

export function Splash() {
  return (
    <div className="splash">
      <img src="/icon.svg" alt="" width={48} height={48} />
      <strong>Matrx Relay</strong>
      <p>Your machines, from anywhere</p>
      <div className="splash-below">
        <Waiting />
      </div>
    </div>
  );
}
